"""Options that several commands have."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from ..project import WORKSPACE_FILE, find_root
from .exit_codes import fail

if TYPE_CHECKING:
    from toolcast_runtime.external.server_settings import ExternalServer

__all__ = [
    "all_option",
    "changes_format_option",
    "format_option",
    "listed_extensions",
    "named_project",
    "project_option",
    "server_options",
]


project_option = click.option(
    "--project", metavar="FOLDER", help="The folder of toolcast.yaml."
)
format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "github", "sarif", "markdown"]),
    default="text",
    help="How findings are printed.",
)

changes_format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "markdown", "github", "sarif"]),
    default="text",
    help="How changes are printed.",
)
all_option = click.option(
    "--all", "every", is_flag=True, help="Print each of many findings that are alike."
)


def named_project(arguments: Sequence[str]) -> str | None:
    """The folder of the project that a command line is about; None without one."""
    given = None
    for word, following in pairwise([*arguments, ""]):
        if word == "--project":
            given = following
        elif word.startswith("--project="):
            given = word.removeprefix("--project=")
    if given is None:
        return find_root(os.getcwd())
    root = os.path.abspath(given.removesuffix(WORKSPACE_FILE))
    return root if os.path.lexists(os.path.join(root, WORKSPACE_FILE)) else None


def listed_extensions(root: str | None) -> tuple[str, ...]:
    """The extensions that a project lists; none where its toolcast.yaml has errors."""
    if root is None:
        return ()
    from ..model.loading import read_workspace

    workspace = read_workspace(root).workspace
    return () if workspace is None else workspace.extensions


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
