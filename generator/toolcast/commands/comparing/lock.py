"""`toolcast lock`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from ...reports.escaping import printable
from ..exit_codes import CLEAN, FINDINGS, USAGE, counted, fail, workspace_or_end
from ..options import changes_format_option, project_option
from .live import fail_on_option, judged, limits_or_end, note, print_verdict

if TYPE_CHECKING:
    from ...changes.listed_entries import ListingChanges
    from ...model.mcp_servers import McpServer
    from ...model.model import Workspace
    from ...servers.server_listing import ServerListing

__all__ = ["command"]


class _Locked(NamedTuple):
    """A server that has a lock.

    Attributes:
        path: the lock's, below the project's root.
        owner: what its changes are told of.
    """

    path: str
    owner: str
    server: McpServer


@click.command(name="lock")
@click.argument("servers", metavar="[SERVER]...", nargs=-1)
@project_option
@click.option(
    "--update",
    is_flag=True,
    help="Write what the servers list now into their locks. Read what is printed first.",
)
@fail_on_option
@changes_format_option
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
    a note. Ends with exit code 1 where something has changed or has no lock yet, with 2
    where a server or a lock cannot be read; with --update with 0 where all was written.
    """
    from ...servers.read_server import read_server
    from ...servers.server_listing import ListingError

    least = limits_or_end(fail_on)
    workspace = workspace_or_end(project)
    found, compared, lacking, is_failed = [], [], 0, False
    for one in _locked(workspace, servers):
        # One that fails hides none of the others.
        try:
            listing = read_server(one.server, twice=True)
        except ListingError as error:
            left = "; its lock is left as it is" if update else ""
            _failed(f"{error}{left}", "the server has to run, and to list its tools")
            is_failed = True
            continue
        changes = None
        renew = f"`toolcast lock --update {one.server.name}` writes it anew"
        try:
            changes = _changes(one, listing)
        except ListingError as error:
            if not update:
                _failed(str(error), f"take it from a commit, or {renew}")
                is_failed = True
        note(one.server.name, listing, [] if changes is None else changes.varying)
        if changes is not None:
            found += changes.changes
            compared.append(one.path)
        elif one.server.locked is None and not update:
            lacking += 1
            click.echo(f"{one.path}: there is no lock yet; {renew}", err=True)
        if update and not _write(workspace.root, one.path, listing):
            is_failed = True
    code = CLEAN
    if compared or format_ != "text":
        against = compared[0] if len(compared) == 1 else "the locks"
        code = print_verdict(judged(found, against, least), format_, workspace.root)
    if is_failed:
        sys.exit(USAGE)
    sys.exit(CLEAN if update else FINDINGS if lacking else code)


def _failed(words: str, help_: str) -> None:
    click.echo(f"error: {printable(words)}\n  help: {printable(help_)}", err=True)


def _locked(workspace: Workspace, names: Sequence[str]) -> list[_Locked]:
    """The servers that have locks; ends the program where a named one has none."""
    from ...suggestions import known_instead

    there = [
        (toolset, server)
        for toolset in workspace.toolsets
        for server in toolset.mcp_servers
    ]
    locked = [
        _Locked(f"{toolset.folder}/{one.lock}", f"{toolset.name}/{one.name}", one)
        for toolset, one in there
        if one.lock is not None
    ]
    known = {one.server.name for one in locked}
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
    owners: dict[str, str] = {}
    for one in locked:
        other = owners.setdefault(one.path, one.owner)
        if other != one.owner:
            help_ = "give each a file of its own"
            fail(f"{other} and {one.owner} have one lock, {one.path}\n  help: {help_}")
    return [one for one in locked if not names or one.server.name in names]


def _changes(locked: _Locked, listing: ServerListing) -> ListingChanges | None:
    """What is not as the lock has it; None where there is none.

    Raises:
        ListingError: what is there is no lock.
    """
    from ...changes.listed_entries import Owner, listing_changes
    from ...servers.server_listing import locked_listing

    if locked.server.locked is None:
        return None
    before = locked_listing(locked.server.locked, locked.path)
    return listing_changes(before, listing, Owner(locked.owner, locked.path))


def _write(root: str, path: str, listing: ServerListing) -> bool:
    """Whether the lock was written."""
    from toolcast_runtime.files.folder import Folder

    from ...encoders.json_text import pretty
    from ...servers.server_listing import KINDS, lock_members

    data = pretty(lock_members(listing), tuple(KINDS)).encode()
    above, _, name = path.rpartition("/")
    try:
        with Folder.at(root) as project, project.below(above, create=True) as folder:
            folder.write(name, data)
    except OSError as error:
        _failed(f"{path}: {error.strerror or error}", "it was not written")
        return False
    click.echo(f"{path}: {counted(len(listing.tools), 'tool')} locked", err=True)
    return True
