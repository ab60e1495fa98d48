"""Which server a command line or a toolset means, as the runtime connects to it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import fields

from toolcast_runtime.external.server_settings import ExternalServer

from ..model.mcp.mcp_servers import McpServer
from .server_listing import ListingError

__all__ = ["command_server", "declared_server", "headers_of", "url_server"]

_OTHERWISE = {"max_tools": "most_tools"}
_SPEC_ONLY = {"fields", "title", "lock", "locked", "on_change"}


def command_server(line: str) -> ExternalServer:
    """The server that a command line starts, split as a POSIX shell does; none is run.

    It gets the whole environment, as in the shell that the line was typed in. `${NAME}` in
    it stands for a variable, as in `mcp_servers`.

    Raises:
        ListingError: it is empty, or a quotation in it does not end.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ListingError(f"the command is not valid: {error}") from None
    if not words:
        raise ListingError("the command is empty")
    return ExternalServer(
        words[0], command=words[0], args=tuple(words[1:]), whole_environment=True
    )


def url_server(url: str) -> ExternalServer:
    """The server at a URL.

    Raises:
        ListingError: it is no URL of HTTP.
    """
    if not url.startswith(("https://", "http://")):
        raise ListingError("the URL does not begin with https:// or http://")
    # A query or a user's part may hold a secret.
    shown = url.split("?")[0].rpartition("@")[2]
    return ExternalServer(shown, url=url)


def headers_of(words: Iterable[str]) -> dict[str, str]:
    """The headers that `--header NAME:VALUE` gives.

    Raises:
        ListingError: a word is none.
    """
    pairs = [word.partition(":") for word in words]
    if not all(name.strip() and colon for name, colon, _ in pairs):
        raise ListingError("--header is NAME:VALUE")
    return {name.strip(): value.strip() for name, _, value in pairs}


def declared_server(server: McpServer) -> ExternalServer:
    """An entry of `mcp_servers`, with its environment, headers and timeouts."""
    values = {
        _OTHERWISE.get(field.name, field.name): getattr(server, field.name)
        for field in fields(server)
        if field.name not in _SPEC_ONLY
    }
    return ExternalServer(**values)
