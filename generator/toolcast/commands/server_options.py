"""The options that name a live MCP server on the command line."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from .exit_codes import fail

if TYPE_CHECKING:
    from toolcast_runtime.external.server_settings import ExternalServer

__all__ = ["server_options"]

_SECONDS = 60.0
_OPTIONS = (
    click.option(
        "--mcp-stdio", metavar="COMMAND", help="The MCP server that a command starts."
    ),
    click.option("--mcp-url", metavar="URL", help="The MCP server at a URL."),
    click.option(
        "--header",
        "headers",
        metavar="NAME:VALUE",
        multiple=True,
        help="Sent to the URL; `${NAME}` in it is a variable of the environment.",
    ),
    click.option(
        "--timeout",
        "seconds",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        default=_SECONDS,
        help=f"How long the server may take to start, to list, and to answer. Default: {_SECONDS:g}.",
    ),
)


def server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options, and their servers as the keyword `given`.

    That is a tuple of `ExternalServer`: of none, one or both of a command and a URL. What
    is wrong with an option ends the program with exit code 2.
    """

    @functools.wraps(command)
    def with_servers(
        *,
        mcp_stdio: str | None,
        mcp_url: str | None,
        headers: tuple[str, ...],
        seconds: float,
        **others: Any,
    ) -> None:
        given = _servers(mcp_stdio, mcp_url, headers, seconds)
        command(given=given, **others)

    wrapped: Callable[..., None] = with_servers
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def _servers(
    line: str | None, url: str | None, headers: tuple[str, ...], seconds: float
) -> tuple[ExternalServer, ...]:
    if line is None and url is None and not headers:
        return ()
    from dataclasses import replace

    from ..servers.declared_servers import command_server, headers_of, url_server
    from ..servers.server_listing import ListingError

    if headers and url is None:
        fail("--header goes with --mcp-url")
    servers = []
    option = ""
    try:
        option = "--mcp-stdio: "
        if line is not None:
            servers.append(command_server(line))
        option = "--mcp-url: "
        if url is not None:
            servers.append(url_server(url))
        option = ""
        named = headers_of(headers)
    except ListingError as error:
        fail(f"{option}{error}")
    return tuple(
        replace(
            server,
            headers=named if server.command is None else {},
            connect_timeout=seconds,
            list_timeout=seconds,
            call_timeout=seconds,
        )
        for server in servers
    )
