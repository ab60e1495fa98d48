"""Resources outside the process that a toolset uses: hosts, programs, environment variables.

Also finds secrets in the settings of external servers.
"""

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
# The scheme before a secret, as in `Bearer ${TOKEN}`, is not a secret.
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
    """Yield the paths of a server's settings whose values seem to be secrets.

    A value seems to be a secret because of its variable, header or option, or its format.
    Values that only refer to environment variables are not secrets.
    """
    # The name of an option whose value is the next argument, as in `--token VALUE`.
    secret_option = ""
    for path, text in server.texts:
        literal = replace_references(text)
        has_secret_name = False
        if path[0] in ("env", "headers"):
            has_secret_name = bool(_SECRET_NAME.search(str(path[1])))
        elif path[0] == "args":
            has_secret_name = bool(secret_option)
            match = _OPTION.match(literal)
            secret_option = ""
            if match and _SECRET_NAME.search(match[1]):
                if match[2] is None:
                    secret_option = match[1]
                else:
                    literal, has_secret_name = match[2], True
            elif match:
                has_secret_name = False
        if (has_secret_name and not _SCHEME.match(literal)) or has_secret(literal):
            yield path


def has_secret(text: str) -> bool:
    """Return whether a text contains a known token format, or a password in a URL."""
    literal = replace_references(text)
    return bool(_SECRET_TEXT.search(literal) or _PASSWORD_IN_URL.search(literal))


_URL = re.compile(r"https?://", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")


class NetworkReach(NamedTuple):
    """Distinct external resources of a toolset, in the order of its file.

    Attributes:
        programs: the command lines that the toolset starts.
        hosts: the hosts that it connects to; for a URL in an environment variable, the variable.
        variables: the names of the environment variables that it reads.
    """

    programs: tuple[str, ...]
    hosts: tuple[str, ...]
    variables: tuple[str, ...]


def get_network_reach(toolset: Toolset) -> NetworkReach:
    """Return the external resources that toolset.yaml makes a toolset use.

    Sources are the external servers, the router's model, the variables for HTTP tokens and
    the state key, and the fields of extensions: URLs, and variables in keys that end with
    `_env`.
    """
    resources = list(list_reached_resources(toolset))
    names_by_kind = (
        dict.fromkeys(resource.name for resource in resources if resource.kind == kind)
        for kind in NetworkReach._fields
    )
    return NetworkReach(*map(tuple, names_by_kind))


class ReachedResource(NamedTuple):
    """External resource that a toolset uses.

    Attributes:
        kind: the field of `NetworkReach` that lists the resource.
        name: the command line, the host or the variable.
        path: the path in toolset.yaml of the setting that causes the use.
    """

    kind: str
    name: str
    path: Path


def list_reached_resources(toolset: Toolset) -> Iterator[ReachedResource]:
    """Yield the resources of `get_network_reach` with their paths, once for each use."""
    for server in toolset.mcp_servers:
        path: Path = ("mcp_servers", server.name)
        if server.command is not None:
            yield ReachedResource("programs", format_command_line(server), path)
        if server.url is not None:
            yield ReachedResource("hosts", _get_host(server.url), path)
        for _, text in server.texts:
            for name in list_references(text):
                yield ReachedResource("variables", name, path)
    if toolset.router is not None:
        path = ("router",)
        yield ReachedResource("hosts", _get_host(toolset.router.base_url), path)
        for _, text in _list_router_texts(toolset):
            for name in list_references(text):
                yield ReachedResource("variables", name, path)
    for client in toolset.clients:
        if client.token_variable:
            path = ("clients", client.name, "token_variable")
            yield ReachedResource("variables", client.token_variable, path)
    mcp = toolset.targets.get("mcp", {})
    http = mcp.get("http")
    admin = http.get("admin_token_variable") if isinstance(http, dict) else None
    for option in (admin, mcp.get("state_key_variable")):
        if isinstance(option, str):
            yield ReachedResource("variables", option, ("targets", "mcp"))
    for full_path, text, is_key in walk_strings(dict(toolset.extensions), ()):
        if is_key:
            continue
        keys = [part for part in full_path if isinstance(part, str)]
        key = keys[-1] if keys else ""
        if _URL.match(text):
            yield ReachedResource("hosts", _get_host(text), full_path[:1])
        elif key.endswith("_env") and _VARIABLE.fullmatch(text):
            yield ReachedResource("variables", text, full_path[:1])


def collect_server_variables(toolset: Toolset) -> dict[str, dict[str, Any]]:
    """Return the environment variables of a toolset's stdio server, sorted by name.

    Each value describes the variable: `description`, `default`, `required`, `secret`. Sources
    are the external servers, the ledger, and `targets.package.environment`, which overrides
    the others. Variables of the HTTP server, such as tokens, are not included.
    """
    variables: dict[str, dict[str, Any]] = {}
    proxied = toolset.proxied_servers
    is_external = toolset.targets.get("mcp", {}).get("external")
    # Without external tools, the MCP server connects only to servers used as proxies.
    servers = [s for s in toolset.mcp_servers if is_external or s.name in proxied]
    for server in servers:
        about = f"For the server `{server.title or server.name}`."
        for path, text in server.texts:
            key = str(path[1]) if path[0] in ("env", "headers") else ""
            for name, default in list_references_with_defaults(text):
                description = variables.setdefault(
                    name, {"description": about, "default": default}
                )
                if default is None:
                    description["required"] = True
                if _is_secret_name(name) or _is_secret_name(key):
                    description["secret"] = True
    has_persistent_calls = any(tool.persistent for tool in toolset.tools) or any(
        server.persistent for server in servers
    )
    if "sink" not in toolset.ledger and has_persistent_calls:
        about = "Where calls are recorded: a SQLite file, or a PostgreSQL URL."
        variables[build_variable_name(toolset, "LEDGER")] = {
            "description": about,
            "secret": True,
        }
    declared = toolset.targets.get("package", {}).get("environment", {})
    for name, settings in declared.items():
        variables[name] = {"secret": _is_secret_name(name), **settings}
    return dict(sorted(variables.items()))


def _is_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def list_sent_variables(toolset: Toolset) -> Iterator[tuple[Path, str, str]]:
    """Yield the variables whose values are sent to another host: path, owner, name.

    The owner is the external server's name or `router`. A variable at the beginning of a URL
    is not included if its name ends with `URL`: it defines the host.
    """
    for server in toolset.mcp_servers:
        for subpath, text in server.texts:
            if subpath[0] in ("url", "headers"):
                path = ("mcp_servers", server.name, *subpath)
                for name in _list_sent_names(text, is_url=subpath[0] == "url"):
                    yield path, server.name, name
    for field, text in _list_router_texts(toolset):
        for name in _list_sent_names(text, is_url=field == "base_url"):
            yield ("router", field), "router", name


def _list_sent_names(text: str, *, is_url: bool) -> list[str]:
    names = list_references(text)
    begins_with_variable = is_url and text.startswith("${")
    if begins_with_variable and names and names[0].endswith("URL"):
        return names[1:]
    return names


def _list_router_texts(toolset: Toolset) -> Iterator[tuple[str, str]]:
    router = toolset.router
    if router is not None:
        yield "base_url", router.base_url
        yield "model", router.model
        if router.api_key is not None:
            yield "api_key", router.api_key


def format_command_line(server: McpServer) -> str:
    """Return a server's command line, with `***` in place of probable secrets."""
    hidden = set(find_secret_paths(server))
    arguments: list[tuple[Path, str]] = [(("command",), server.command or "")]
    for index, argument in enumerate(server.args):
        arguments.append((("args", index), argument))
    return " ".join(
        "***" if path in hidden else argument for path, argument in arguments
    )


def _get_host(url: str) -> str:
    literal = replace_references(url)
    try:
        # Omit the credentials, which precede `@` in a URL.
        host = urlsplit(literal).netloc.rpartition("@")[2]
    except ValueError:
        host = literal
    names = list_references(url)
    return host or (f"${{{names[0]}}}" if names else literal)
