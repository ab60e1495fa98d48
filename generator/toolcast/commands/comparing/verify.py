"""`toolcast verify`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..exit_codes import fail, known_or_end, workspace_or_end
from ..options import project_option
from ..server_options import server_options
from .live import ANY, FORMATS, judged, limits_or_end, note, read_or_end, told

if TYPE_CHECKING:
    from toolcast_runtime.external.server_settings import ExternalServer

    from ...model.model import Toolset, Workspace
    from ...servers.server_listing import ServerListing

__all__ = ["command"]


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
    "--fail-on",
    metavar="LIMITS",
    default=ANY,
    show_default=True,
    help="The least grade that fails, as `diff` takes it: `risky`, `breaking`, one for"
    " each audience, or `none`; `any` for every difference.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="text",
    help="How changes are printed.",
)
def command(
    server: str | None,
    project: str | None,
    given: tuple[ExternalServer, ...],
    toolset: str | None,
    fail_on: str,
    format_: str,
) -> None:
    """Compare a live MCP server with the definitions of a toolset.

    SERVER is a URL, or the name of an entry of `mcp_servers`; --mcp-stdio starts one. It is
    read twice, as raw JSON-RPC. A tool that is missing, new, renamed or changed is told with
    the grades of `toolcast diff`, as if the definitions had become what the server lists;
    what differs at each start by itself is a note. Ends with exit code 1 where the server
    is not as it is defined.
    """
    from ...changes.outside.listed_entries import Owner, listing_changes
    from ...servers.declared_listing import declared_listing, without_sizes_of_skills

    least = limits_or_end(fail_on)
    workspace = workspace_or_end(project)
    if toolset is not None:
        known_or_end("toolset", toolset, [one.name for one in workspace.toolsets])
    meant = _meant(workspace, server, given)
    listing = read_or_end(meant)
    own = _toolset(workspace, listing, toolset)
    has_skills = "skills" in own.targets
    declared = declared_listing(own, listing.protocol, has_skills=has_skills)
    files = {tool.name: tool.source.file for tool in own.tools}
    owner = Owner(own.name, own.source.file, files)
    live = without_sizes_of_skills(listing) if has_skills else listing
    changes = listing_changes(declared, live, owner)
    note(meant.name, listing, changes.varying)
    against = f"the toolset {own.name}"
    sys.exit(told(judged(changes.changes, against, least), format_, workspace.root))


def _meant(
    workspace: Workspace, server: str | None, given: tuple[ExternalServer, ...]
) -> ExternalServer:
    """The server that is meant; ends the program where that is none, or several."""
    from ...servers.named_server import declared_server, url_server
    from ...servers.server_listing import ListingError
    from ...wording import known_instead

    if len(given) + (server is not None) != 1:
        fail(
            "name one server\n  help: SERVER, `--mcp-stdio COMMAND` or `--mcp-url URL`"
        )
    if given:
        return given[0]
    if server is not None and "://" in server:
        try:
            return url_server(server)
        except ListingError as error:
            fail(str(error))
    declared = {
        one.name: one for toolset in workspace.toolsets for one in toolset.mcp_servers
    }
    if server not in declared:
        near = known_instead(server or "", sorted(declared)) if declared else ""
        help_ = near or "a command is given with `--mcp-stdio`"
        fail(f"`mcp_servers` has no `{server}`\n  help: {help_}")
    return declared_server(declared[server])


def _toolset(workspace: Workspace, listing: ServerListing, name: str | None) -> Toolset:
    """The named toolset, or the one whose tools a server lists."""
    listed = {tool["name"] for tool in listing.tools}

    def has(toolset: Toolset) -> int:
        return len(listed.intersection(tool.name for tool in toolset.tools))

    named = [one for one in workspace.toolsets if name in (None, one.name)]
    best = sorted(named, key=has, reverse=True)
    if len(best) > 1 and has(best[0]) == has(best[1]):
        fail(
            f"{listing.source}: it cannot be told which toolset it is"
            "\n  help: `--toolset NAME` names one"
        )
    return best[0]
