"""What a toolset reaches outside: hosts, programs, environment variables, secrets of servers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..model.endpoints import build_variable_name
from ..model.mcp_servers import (
    McpServer,
    list_references,
    list_references_with_defaults,
    replace_references,
)
from ..model.model import Toolset
from ..parsing.tree import Path
from .texts import walk_strings

_SECRET_NAME = re.compile(
    r"authorization|cookie|credential|passw(?:or)?d|passphrase|secret"
    r"|(?:^|[-_])(?:token|key|pat|pwd)(?:$|[-_])|(?:api|access|private)[-_]?key",
    re.IGNORECASE,
)
# What stands before the secret itself, and says nothing.
_SCHEME = re.compile(r"^\s*(?:bearer|basic|token|apikey|digest)?\s*$", re.IGNORECASE)
_SECRET_TEXT = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}|\beyJ[A-Za-z0-9_-]{10,}\."
    r"|\bglpat-[A-Za-z0-9_-]{16,}|\bhf_[A-Za-z0-9]{20,}",
)
_PASSWORD_IN_URL = re.compile(r"://[^/@\s]*:[^/@\s]+@")
_OPTION = re.compile(r"^--?([A-Za-z0-9_-]+)(?:=(.*))?$", re.DOTALL)


def find_secret_paths(server: McpServer) -> Iterator[tuple[str | int, ...]]:
    """The paths below a server of what looks like a secret, by its name or as a text."""
    option = ""
    for path, text in server.texts:
        literal = replace_references(text)
        is_named = False
        if path[0] in ("env", "headers"):
            is_named = bool(_SECRET_NAME.search(str(path[1])))
        elif path[0] == "args":
            is_named = bool(option)
            match = _OPTION.match(literal)
            option = ""
            if match and _SECRET_NAME.search(match[1]):
                if match[2] is None:
                    option = match[1]
                else:
                    literal, is_named = match[2], True
            elif match:
                is_named = False
        if (is_named and not _SCHEME.match(literal)) or has_secret(literal):
            yield path


def has_secret(text: str) -> bool:
    """Whether a text has something in it that looks like a secret of a known kind."""
    literal = replace_references(text)
    return bool(_SECRET_TEXT.search(literal) or _PASSWORD_IN_URL.search(literal))


_URL = re.compile(r"https?://", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")


class NetworkReach(NamedTuple):
    """What a toolset reaches, each once and in the order of its file.

    Attributes:
        programs: the command lines that it starts.
        hosts: the hosts that it speaks to; of one that the environment names, the variable.
        variables: the names of environment variables that it reads.
    """

    programs: tuple[str, ...]
    hosts: tuple[str, ...]
    variables: tuple[str, ...]


def get_network_reach(toolset: Toolset) -> NetworkReach:
    """What toolset.yaml makes a toolset reach.

    Counted are its external servers, the router's model, the tokens over HTTP and
    the key that it names itself, and the fields of extensions: addresses, and variables by the end `_env`
    of their keys.
    """
    found = list(list_reached_resources(toolset))
    kinds = (
        dict.fromkeys(one.name for one in found if one.kind == kind)
        for kind in NetworkReach._fields
    )
    return NetworkReach(*map(tuple, kinds))


class ReachedResource(NamedTuple):
    """One thing that a toolset reaches.

    Attributes:
        kind: the field of `NetworkReach` that it is one of.
        name: what it is.
        path: what makes the toolset reach it.
    """

    kind: str
    name: str
    path: Path


def list_reached_resources(toolset: Toolset) -> Iterator[ReachedResource]:
    """The same one by one, as often as it is reached."""
    for server in toolset.mcp_servers:
        path: Path = ("mcp_servers", server.name)
        if server.command is not None:
            yield ReachedResource("programs", format_command_line(server), path)
        if server.url is not None:
            yield ReachedResource("hosts", _host(server.url), path)
        for _, text in server.texts:
            yield from (
                ReachedResource("variables", one, path) for one in list_references(text)
            )
    if toolset.router is not None:
        path = ("router",)
        yield ReachedResource("hosts", _host(toolset.router.base_url), path)
        for _, text in _router_texts(toolset):
            yield from (
                ReachedResource("variables", one, path) for one in list_references(text)
            )
    for client in toolset.clients:
        if client.token_variable:
            path = ("clients", client.name, "token_variable")
            yield ReachedResource("variables", client.token_variable, path)
    mcp = toolset.targets.get("mcp", {})
    http = mcp.get("http")
    admin = http.get("admin_token_variable") if isinstance(http, dict) else None
    for name in (admin, mcp.get("state_key_variable")):
        if isinstance(name, str):
            yield ReachedResource("variables", name, ("targets", "mcp"))
    for at, text, is_key in walk_strings(dict(toolset.extensions), ()):
        key = next((str(one) for one in reversed(at) if isinstance(one, str)), "")
        if is_key:
            continue
        if _URL.match(text):
            yield ReachedResource("hosts", _host(text), at[:1])
        elif key.endswith("_env") and _VARIABLE.fullmatch(text):
            yield ReachedResource("variables", text, at[:1])


def collect_server_variables(toolset: Toolset) -> dict[str, dict[str, Any]]:
    """The environment variables that a toolset's server reads over stdio, by their names.

    Those of its external servers and of its ledger, and what `targets.package.environment`
    says of these and of others; each is said in the way in which it is said there. What serves
    several people, as tokens do, is none of them.
    """
    found: dict[str, dict[str, Any]] = {}
    proxied = toolset.proxied_servers
    is_external = toolset.targets.get("mcp", {}).get("external")
    shown = [s for s in toolset.mcp_servers if is_external or s.name in proxied]
    for server in shown:
        about = f"For the server `{server.title or server.name}`."
        for path, text in server.texts:
            goes_to = str(path[1]) if path[0] in ("env", "headers") else ""
            for name, default in list_references_with_defaults(text):
                one = found.setdefault(name, {"description": about, "default": default})
                if default is None:
                    one["required"] = True
                if _is_secret(name) or _is_secret(goes_to):
                    one["secret"] = True
    tools = any(tool.persistent for tool in toolset.tools)
    if "sink" not in toolset.ledger and (tools or any(s.persistent for s in shown)):
        about = "Where calls are recorded: a SQLite file, or a PostgreSQL URL."
        found[build_variable_name(toolset, "LEDGER")] = {
            "description": about,
            "secret": True,
        }
    declared = toolset.targets.get("package", {}).get("environment", {})
    for name, said in declared.items():
        found[name] = {"secret": _is_secret(name), **said}
    return dict(sorted(found.items()))


def _is_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def list_sent_variables(toolset: Toolset) -> Iterator[tuple[Path, str, str]]:
    """The variables whose values go to another host: path, the text's owner, name.

    Not counted is the variable that an address begins with: it says where that host is.
    """
    for server in toolset.mcp_servers:
        for inner, text in server.texts:
            if inner[0] in ("url", "headers"):
                path = ("mcp_servers", server.name, *inner)
                for name in _sent(text, is_address=inner[0] == "url"):
                    yield path, server.name, name
    for field, text in _router_texts(toolset):
        for name in _sent(text, is_address=field == "base_url"):
            yield ("router", field), "router", name


def _sent(text: str, *, is_address: bool) -> list[str]:
    names = list_references(text)
    is_first = is_address and text.startswith("${")
    # A variable for a whole address holds one, and says so by its name.
    if is_first and names and names[0].endswith("URL"):
        return names[1:]
    return names


def _router_texts(toolset: Toolset) -> Iterator[tuple[str, str]]:
    router = toolset.router
    if router is not None:
        yield "base_url", router.base_url
        yield "model", router.model
        if router.api_key is not None:
            yield "api_key", router.api_key


def format_command_line(server: McpServer) -> str:
    """The command line, without what looks like a secret."""
    hidden = set(find_secret_paths(server))
    words: list[tuple[Path, str]] = [(("command",), server.command or "")]
    words += [(("args", index), word) for index, word in enumerate(server.args)]
    return " ".join("***" if path in hidden else word for path, word in words)


def _host(address: str) -> str:
    literal = replace_references(address)
    try:
        host = urlsplit(literal).netloc.rpartition("@")[2]
    except ValueError:
        host = literal
    names = list_references(address)
    return host or (f"${{{names[0]}}}" if names else literal)
