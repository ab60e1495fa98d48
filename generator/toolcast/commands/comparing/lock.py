"""`toolcast lock`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..exit_codes import CLEAN, FINDINGS, counted, fail, workspace_or_end
from ..options import project_option
from .live import ANY, FORMATS, judged, limits_or_end, note, read_or_end, told

if TYPE_CHECKING:
    from ...model.mcp.mcp_servers import McpServer
    from ...model.model import Toolset, Workspace
    from ...servers.server_listing import ServerListing

__all__ = ["command"]


@click.command(name="lock")
@click.argument("servers", metavar="[SERVER]...", nargs=-1)
@project_option
@click.option(
    "--update",
    is_flag=True,
    help="Write what the servers list now into their locks. Read what is printed first.",
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
    servers: tuple[str, ...],
    project: str | None,
    update: bool,
    fail_on: str,
    format_: str,
) -> None:
    """Compare external servers with their locks, or renew those.

    A lock (`mcp_servers.X.lock`) holds what a server listed when somebody reviewed it. Each
    SERVER, all that have a lock by default, is started or called, and read twice. What has
    changed is graded as `toolcast diff` grades it; what differs at each start by itself is
    a note. Ends with exit code 1 where something has changed, and with --update where it
    could not be written.
    """
    from ...changes.outside.listed_entries import Owner, listing_changes
    from ...servers.lock_file import locked_listing
    from ...servers.named_server import declared_server
    from ...servers.server_listing import ListingError

    least = limits_or_end(fail_on)
    workspace = workspace_or_end(project)
    found, written, compared, lacking = [], {}, [], 0
    for toolset, server in _locked(workspace, servers):
        path = f"{toolset.folder}/{server.lock}"
        listing = read_or_end(declared_server(server))
        written[path] = listing
        if server.locked is None:
            note(server.name, listing, [])
            if not update:
                lacking += 1
                hint = f"`toolcast lock --update {server.name}` writes it"
                click.echo(f"{path}: there is no lock yet; {hint}", err=True)
            continue
        try:
            before = locked_listing(server.locked, path)
        except ListingError as error:
            if not update:
                fail(
                    f"{error}\n  help: `toolcast lock --update {server.name}` renews it"
                )
            continue
        owner = Owner(f"{toolset.name}/{server.name}", path)
        changes = listing_changes(before, listing, owner)
        note(server.name, listing, changes.varying)
        found += changes.changes
        compared.append(path)
    code = CLEAN
    if compared or format_ != "text":
        against = compared[0] if len(compared) == 1 else "the locks"
        code = told(judged(found, against, least), format_, workspace.root)
    if update:
        _write(workspace.root, written)
        code = CLEAN
    sys.exit(FINDINGS if lacking else code)


def _locked(
    workspace: Workspace, names: tuple[str, ...]
) -> list[tuple[Toolset, McpServer]]:
    """The servers that have locks; ends the program where a named one has none."""
    there = [
        (toolset, server)
        for toolset in workspace.toolsets
        for server in toolset.mcp_servers
    ]
    from ...wording import known_instead

    locked = [pair for pair in there if pair[1].lock is not None]
    known = {server.name for _, server in locked}
    for name in names:
        if name in known:
            continue
        if any(server.name == name for _, server in there):
            help_ = "give it a file below the toolset's folder: `lock: locks/NAME.json`"
            fail(f"the server `{name}` has no `lock`\n  help: {help_}")
        fail(
            f"there is no server `{name}`\n  help: {known_instead(name, sorted(known))}"
        )
    if not locked:
        fail("no server has a `lock`\n  help: `mcp_servers.NAME.lock: locks/NAME.json`")
    return [pair for pair in locked if not names or pair[1].name in names]


def _write(root: str, written: dict[str, ServerListing]) -> None:
    from toolcast_runtime.files.folder import Folder

    from ...encoders.json_text import pretty
    from ...servers.lock_file import lock_members
    from ...servers.server_listing import KINDS

    for path, listing in written.items():
        data = pretty(lock_members(listing), tuple(KINDS)).encode()
        try:
            above, _, name = path.rpartition("/")
            with (
                Folder.at(root) as project,
                project.below(above, create=True) as folder,
            ):
                folder.write(name, data)
        except OSError as error:
            fail(f"{path}: {error.strerror or error}; it was not written")
        told_ = counted(len(listing.tools), "tool")
        click.echo(f"{path}: {told_} locked", err=True)
