"""`toolcast verify`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..exit_codes import counted, fail, toolsets_or_end, workspace_or_end
from ..options import changes_format_option, project_option, server_options
from .live import fail_on_option, judged, limits_or_end, note, print_verdict

if TYPE_CHECKING:
    from toolcast_runtime.external.server_settings import ExternalServer

    from ...model.mcp_servers import McpServer
    from ...model.model import Toolset
    from ...servers.server_listing import ServerListing

__all__ = ["command"]

_MOST_NAMED = 5
_RENAMED = "tool/renamed-without-former-name"


@click.command(name="verify")
@click.argument("server", required=False)
@project_option
@server_options
@click.option(
    "--toolset",
    metavar="NAME",
    help="Whose definitions the server is compared with. Default: of those whose tools it"
    " lists, the one with most of them.",
)
@click.option(
    "--client", metavar="NAME", help="The client of the toolset that the server serves."
)
@fail_on_option
@changes_format_option
def command(
    server: str | None,
    project: str | None,
    given: tuple[ExternalServer, ...],
    toolset: str | None,
    client: str | None,
    fail_on: str,
    format_: str,
) -> None:
    """Compare a live MCP server with the definitions of a toolset.

    SERVER is a URL, or the name of an entry of `mcp_servers`; --mcp-stdio starts one. It is
    read twice, as raw JSON-RPC. A tool that is missing, new, renamed or changed is told with
    the grades of `toolcast diff`, as if the definitions had become what the server lists;
    what differs at each start by itself is a note. Ends with exit code 1 where the server
    is not as it is defined, and with 2 where it cannot be read, or has none of the tools.
    """
    from ...changes.listed_entries import Owner, listing_changes
    from ...servers.declared_servers import (
        behind,
        declared_listing,
        own_part,
        url_server,
    )
    from ...servers.read_server import read_server
    from ...servers.server_listing import ListingError

    least = limits_or_end(fail_on)
    if len(given) + (server is not None) != 1:
        fail(
            "name one server\n  help: SERVER, `--mcp-stdio COMMAND` or `--mcp-url URL`"
        )
    workspace = workspace_or_end(project)
    toolsets = toolsets_or_end(workspace, toolset, client)
    entry = None
    try:
        if server is None:
            (meant,) = given
        elif "://" in server:
            meant = url_server(server)
        else:
            toolsets, entry = _entry(toolsets, server)
            meant = entry
        listing = read_server(meant, twice=True)
    except ListingError as error:
        fail(f"{error}\n  help: the server has to run, and to list its tools")
    own = _toolset(toolsets, listing)
    is_proxied = entry is not None and entry.name in own.proxied_servers
    if entry is not None and is_proxied:
        own = behind(own, entry)
    elif entry is None:
        listing, others = own_part(own, listing)
        if others:
            verb = "is" if others == 1 else "are"
            words = f"{counted(others, 'tool')} of `mcp_servers` {verb} not compared"
            click.echo(f"note: {meant.name}: {words}", err=True)
    has_skills = "skills" in own.targets and not is_proxied
    declared = declared_listing(own, listing.protocol, client, has_skills=has_skills)
    files = {tool.name: tool.source.file for tool in own.tools}
    owner = Owner(own.name, own.source.file, files)
    changes = listing_changes(declared, listing, owner)
    named = {tool["name"] for tool in declared.tools}
    is_renamed = any(one.rule.id == _RENAMED for one in changes.changes)
    if named and not is_renamed and named.isdisjoint(_names(listing)) and listing.tools:
        _another(meant.name, own.name, listing, entry)
    note(meant.name, listing, changes.varying)
    against = f"the toolset {own.name}"
    sys.exit(
        print_verdict(judged(changes.changes, against, least), format_, workspace.root)
    )


def _entry(toolsets: list[Toolset], name: str) -> tuple[list[Toolset], McpServer]:
    """The toolsets with which an entry of `mcp_servers` may be compared, and the entry."""
    from ...suggestions import known_instead

    pairs = [
        (toolset, server) for toolset in toolsets for server in toolset.mcp_servers
    ]
    found = [pair for pair in pairs if pair[1].name == name]
    if not found:
        known = sorted({server.name for _, server in pairs})
        near = known_instead(name, known) if known else ""
        help_ = near or "a command is given with `--mcp-stdio`"
        fail(f"`mcp_servers` has no `{name}`\n  help: {help_}")
    proxying = [pair for pair in found if name in pair[0].proxied_servers]
    if proxying:
        return [proxying[0][0]], proxying[0][1]
    return toolsets, found[0][1]


def _toolset(toolsets: list[Toolset], listing: ServerListing) -> Toolset:
    """Of several toolsets the one whose tools a server lists."""
    if not toolsets:
        fail("there is no toolset to compare with\n  help: `toolcast import` makes one")
    listed = _names(listing)

    def has(toolset: Toolset) -> int:
        return len(listed.intersection(tool.name for tool in toolset.tools))

    best = sorted(toolsets, key=has, reverse=True)
    if len(best) > 1 and has(best[0]) == has(best[1]):
        fail(
            f"{listing.source}: it cannot be told which toolset it is"
            "\n  help: `--toolset NAME` names one"
        )
    return best[0]


def _names(listing: ServerListing) -> set[str]:
    return {tool["name"] for tool in listing.tools}


def _another(
    name: str, toolset: str, listing: ServerListing, entry: McpServer | None
) -> None:
    """Ends the program: the server has none of a toolset's tools."""
    from toolcast_runtime.calls.untrusted_text import escaped

    shown = ", ".join(
        f"`{escaped(tool['name'], 60)}`" for tool in listing.tools[:_MOST_NAMED]
    )
    more = len(listing.tools) - _MOST_NAMED
    rest = f" and {more} more" if more > 0 else ""
    help_ = "`--toolset NAME` names another toolset"
    if entry is not None and entry.lock is not None:
        help_ = f"it has a lock: `toolcast lock {entry.name}` compares it with that"
    fail(
        f"{name}: it lists none of the tools of {toolset}, but {shown}{rest}"
        f"\n  help: {help_}"
    )
