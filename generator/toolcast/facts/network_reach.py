"""What a toolset reaches beyond its own process: programs, hosts, variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..model.mcp.mcp_servers import McpServer, references, without_references
from ..model.model import Toolset
from ..reading.tree import Path
from .server_secrets import secret_places

__all__ = ["NetworkReach", "reach_of", "sent_variables"]

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


def reach_of(toolset: Toolset) -> NetworkReach:
    """What toolset.yaml makes a toolset reach.

    Counted are its external servers, the router's model, the tokens over HTTP and
    the key that it names itself, and the fields of extensions: addresses, and variables by the end `_env`
    of their keys.
    """
    programs: list[str] = []
    addresses: list[str] = []
    variables: list[str] = []
    for server in toolset.mcp_servers:
        if server.command is not None:
            programs.append(_command(server))
        if server.url is not None:
            addresses.append(server.url)
        for _, text in server.texts:
            variables += references(text)
    if toolset.router is not None:
        addresses.append(toolset.router.base_url)
        for _, text in _router_texts(toolset):
            variables += references(text)
    variables += (c.token_variable for c in toolset.clients if c.token_variable)
    http = toolset.targets.get("mcp", {}).get("http")
    admin = http.get("admin_token_variable") if isinstance(http, dict) else None
    key = toolset.targets.get("mcp", {}).get("state_key_variable")
    variables += [name for name in (admin, key) if isinstance(name, str)]
    for key, text in _texts(toolset.extensions):
        if _URL.match(text):
            addresses.append(text)
        elif key.endswith("_env") and _VARIABLE.fullmatch(text):
            variables.append(text)
    hosts = [_host(address) for address in addresses]
    return NetworkReach(
        *(tuple(dict.fromkeys(x)) for x in (programs, hosts, variables))
    )


def sent_variables(toolset: Toolset) -> Iterator[tuple[Path, str, str]]:
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
    names = references(text)
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


def _command(server: McpServer) -> str:
    """The command line, without what looks like a secret."""
    hidden = set(secret_places(server))
    words: list[tuple[Path, str]] = [(("command",), server.command or "")]
    words += [(("args", index), word) for index, word in enumerate(server.args)]
    return " ".join("***" if path in hidden else word for path, word in words)


def _host(address: str) -> str:
    literal = without_references(address)
    try:
        host = urlsplit(literal).netloc.rpartition("@")[2]
    except ValueError:
        host = literal
    names = references(address)
    return host or (f"${{{names[0]}}}" if names else literal)


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a JSON value with the key that it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts(inner, name)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(inner, key)
