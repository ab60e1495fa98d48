"""The commands that hold live servers to what was reviewed: `toolcast verify` and `lock`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from ...reports.escaping import printable
from ...suggestions import format_first, suggest_name
from ..exit_codes import (
    CLEAN,
    FINDINGS,
    USAGE,
    counted,
    fail,
    known_or_end,
    limits_or_end,
    print_verdict,
    tell_error,
    toolsets_or_end,
    workspace_or_end,
)
from ..options import (
    changes_format_option,
    client_option,
    project_option,
    server_options,
    toolset_option,
)

if TYPE_CHECKING:
    from toolcast_runtime.core.server_settings import ExternalServer

    from ...diff.change import Change
    from ...diff.listing_changes import ListingChanges
    from ...diff.review.verdict import Limits
    from ...mcp_client.server_listing import ServerListing
    from ...model.mcp_servers import McpServer
    from ...model.model import Toolset, Workspace

_ANY = "any"
_MAX_NAMES_SHOWN = 5
"""Tool names in an error message."""
_RUNS = "the server has to run, and to list its tools"
_RENAMED = "tool/renamed-without-former-name"

_fail_on_option = click.option(
    "--fail-on",
    metavar="LIMITS",
    default=_ANY,
    show_default=True,
    help="Lowest grade that fails, as in `diff`; `any`: every difference.",
)


def _tell(
    found: Sequence[Change],
    against: str,
    least: Limits | None,
    format_: str,
    root: str,
) -> int:
    """Prints what differs of servers, and gives the exit code.

    Args:
        against: what a person calls that with which they are compared.
        least: the grades that fail; None where every difference does.
    """
    from ...diff.change import AUDIENCES, Grade
    from ...diff.review.verdict import (
        DEFAULT_LIMITS,
        ChangeVerdict,
        Verdict,
        list_failing_audiences,
    )
    from ...reports.item import ReportContext

    changes = []
    for change in found:
        graded = zip(AUDIENCES, change.grades, strict=True)
        worst = [audience for audience, grade in graded if grade > Grade.SAFE]
        fails = (
            worst or AUDIENCES
            if least is None
            else list_failing_audiences(change.grades, least)
        )
        changes.append(ChangeVerdict(change, change.location, None, tuple(fails)))
    at = DEFAULT_LIMITS if least is None else least
    verdict = Verdict(against, tuple(changes), (), (), at, ())
    return print_verdict(verdict, format_, ReportContext(root))


def _note(name: str, listing: ServerListing, varying: Sequence[Change]) -> None:
    """Tells on stderr what was odd of a server, and what it says otherwise at each start."""
    for words in listing.notes:
        click.echo(f"note: {name}: {words}", err=True)
    for one in varying:
        words = f"{one.message}; it differs at each start, which fails nothing"
        click.echo(f"note: {name}: {printable(words)}", err=True)


@click.command(name="verify")
@click.argument("server", required=False)
@project_option
@server_options
@toolset_option(
    "Toolset to compare with. Default: the one that shares the most tools with the server."
)
@client_option("Client of the toolset that the server serves.")
@_fail_on_option
@changes_format_option
def verify(
    server: str | None,
    project: str | None,
    given: tuple[ExternalServer, ...],
    toolset: str | None,
    client: str | None,
    fail_on: str,
    format_: str,
) -> None:
    """Compare a running MCP server with the definitions of a toolset.

    SERVER is a URL or an entry of `mcp_servers`; --mcp-stdio starts a server. Differences are
    graded as in `toolcast diff`. Values that change on every start are notes. Exit codes: 1
    for differences, 2 if the server cannot be read or has none of the tools.
    """
    from ...diff.listing_changes import compare_listings
    from ...diff.listing_workspace import ListingOwner
    from ...mcp_client.declared_servers import (
        build_declared_listing,
        build_proxied_toolset,
        exclude_external_tools,
        parse_url_server,
    )
    from ...mcp_client.read_server import read_server
    from ...mcp_client.server_listing import ListingError

    least = None if fail_on == _ANY else limits_or_end(fail_on)
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
            meant = parse_url_server(server)
        else:
            toolsets, entry = _entry(toolsets, server)
            meant = entry
        listing = read_server(meant, twice=True)
    except ListingError as error:
        fail(f"{error}\n  help: {_RUNS}")
    own = _toolset(toolsets, listing)
    is_proxied = entry is not None and entry.name in own.proxied_servers
    if entry is not None and is_proxied:
        own = build_proxied_toolset(own, entry)
    elif entry is None:
        listing, others = exclude_external_tools(own, listing)
        if others:
            verb = "is" if others == 1 else "are"
            words = f"{counted(others, 'tool')} of `mcp_servers` {verb} not compared"
            click.echo(f"note: {meant.name}: {words}", err=True)
    has_skills = "skills" in own.targets and not is_proxied
    declared = build_declared_listing(own, listing, client, has_skills=has_skills)
    files = {tool.name: tool.source.file for tool in own.tools}
    owner = ListingOwner(own.name, own.source.file, files)
    changes = compare_listings(declared, listing, owner)
    named = {tool["name"] for tool in declared.tools}
    is_renamed = any(one.rule.id == _RENAMED for one in changes.changes)
    if named and not is_renamed and named.isdisjoint(_names(listing)) and listing.tools:
        _another(meant.name, own.name, listing, entry)
    _note(meant.name, listing, changes.varying)
    against = f"the toolset {own.name}"
    sys.exit(_tell(changes.changes, against, least, format_, workspace.root))


def _entry(toolsets: list[Toolset], name: str) -> tuple[list[Toolset], McpServer]:
    """The toolsets with which an entry of `mcp_servers` may be compared, and the entry."""
    pairs = [
        (toolset, server) for toolset in toolsets for server in toolset.mcp_servers
    ]
    found = [pair for pair in pairs if pair[1].name == name]
    if not found:
        known = sorted({server.name for _, server in pairs})
        near = suggest_name(name, known) if known else ""
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
    from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

    names = [f"`{escape_excerpt(tool['name'], 60)}`" for tool in listing.tools]
    help_ = "`--toolset NAME` names another toolset"
    if entry is not None and entry.lock is not None:
        help_ = f"it has a lock: `toolcast lock {entry.name}` compares it with that"
    fail(
        f"{name}: it lists none of the tools of {toolset}, but {format_first(names, _MAX_NAMES_SHOWN)}"
        f"\n  help: {help_}"
    )


class _LockedServer(NamedTuple):
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
    help="Write the servers' current lists to their lock files.",
)
@_fail_on_option
@changes_format_option
def lock(
    servers: tuple[str, ...],
    project: str | None,
    update: bool,
    fail_on: str,
    format_: str,
) -> None:
    """Compare external servers with their lock files; --update rewrites them.

    A lock (`mcp_servers.X.lock`) is the reviewed list of a server. Without SERVER, compares
    all servers with a lock. Changes are graded as in `toolcast diff`. Values that change on
    every start are notes. Exit codes: 1 for changes or a missing lock, 2 if a server or a
    lock cannot be read; with --update, 0 if all locks were written.
    """
    from ...mcp_client.read_server import read_server
    from ...mcp_client.server_listing import ListingError

    least = None if fail_on == _ANY else limits_or_end(fail_on)
    workspace = workspace_or_end(project)
    found, compared, lacking, is_failed = [], [], 0, False
    for one in _locked(workspace, servers):
        # One that fails hides none of the others.
        try:
            listing = read_server(one.server, twice=True)
        except ListingError as error:
            left = "; its lock is left as it is" if update else ""
            tell_error(f"{error}{left}\n  help: {_RUNS}")
            is_failed = True
            continue
        changes = None
        renew = f"`toolcast lock --update {one.server.name}` writes it anew"
        try:
            changes = _changes(one, listing)
        except ListingError as error:
            if not update:
                tell_error(f"{error}\n  help: take it from a commit, or {renew}")
                is_failed = True
        _note(one.server.name, listing, [] if changes is None else changes.varying)
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
        code = _tell(found, against, least, format_, workspace.root)
    if is_failed:
        sys.exit(USAGE)
    sys.exit(CLEAN if update else FINDINGS if lacking else code)


def _locked(workspace: Workspace, names: Sequence[str]) -> list[_LockedServer]:
    """The servers that have locks; ends the program where a named one has none."""
    there = [
        (toolset, server)
        for toolset in workspace.toolsets
        for server in toolset.mcp_servers
    ]
    locked = [
        _LockedServer(f"{toolset.folder}/{one.lock}", f"{toolset.name}/{one.name}", one)
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
        known_or_end("server", name, sorted(known))
    if not locked:
        fail("no server has a `lock`\n  help: `mcp_servers.NAME.lock: locks/NAME.json`")
    owners: dict[str, str] = {}
    for one in locked:
        other = owners.setdefault(one.path, one.owner)
        if other != one.owner:
            help_ = "give each a file of its own"
            fail(f"{other} and {one.owner} have one lock, {one.path}\n  help: {help_}")
    return [one for one in locked if not names or one.server.name in names]


def _changes(locked: _LockedServer, listing: ServerListing) -> ListingChanges | None:
    """What is not as the lock has it; None where there is none.

    Raises:
        ListingError: what is there is no lock.
    """
    from ...diff.listing_changes import compare_listings
    from ...diff.listing_workspace import ListingOwner
    from ...mcp_client.server_listing import parse_lock

    if locked.server.locked is None:
        return None
    before = parse_lock(locked.server.locked, locked.path)
    return compare_listings(before, listing, ListingOwner(locked.owner, locked.path))


def _write(root: str, path: str, listing: ServerListing) -> bool:
    """Whether the lock was written."""
    from toolcast_runtime.core.safe_folder import Folder

    from ...encoders.json_text import encode_json
    from ...mcp_client.server_listing import KINDS, build_lock

    data = encode_json(build_lock(listing), tuple(KINDS)).encode()
    above, _, name = path.rpartition("/")
    try:
        with (
            Folder.open_path(root) as project,
            project.open_subfolder(above, create=True) as folder,
        ):
            folder.write(name, data)
    except OSError as error:
        words = error.strerror or error
        tell_error(f"{path}: {words}\n  help: it was not written")
        return False
    click.echo(f"{path}: {counted(len(listing.tools), 'tool')} locked", err=True)
    return True
