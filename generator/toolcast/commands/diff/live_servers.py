"""The commands `toolcast verify` and `toolcast lock`, which check running servers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import click

from ...reports.escaping import printable
from ...suggestions import format_first, suggest_name
from ..exit_codes import (
    CLEAN,
    FINDINGS,
    USAGE,
    fail,
    format_count,
    load_workspace_or_exit,
    parse_limits_or_exit,
    print_error,
    print_verdict,
    require_known_name,
    select_toolsets_or_exit,
)
from ..options import (
    changes_format_option,
    client_option,
    project_option,
    python_options,
    server_options,
    toolset_option,
)
from .module_server import (
    build_generated_server,
    build_module_server,
    compare_servers,
    verify_calls,
)

if TYPE_CHECKING:
    from toolcast_runtime.core.server_settings import ExternalServer

    from ...diff.change import Change
    from ...diff.listing_changes import ListingChanges
    from ...diff.review.verdict import Limits
    from ...mcp_client.server_listing import ListingError, ServerListing
    from ...model.mcp_servers import McpServer
    from ...model.model import Toolset, Workspace

_ANY = "any"
"""Value of `--fail-on` with which every difference fails."""
_MAX_NAMES_SHOWN = 5
"""Maximum number of tool names in an error message."""
_HELP_UNREADABLE = "check that the server runs and lists its tools"
_RENAMED = "tool/renamed-without-previous-name"

_fail_on_option = click.option(
    "--fail-on",
    metavar="LIMITS",
    default=_ANY,
    show_default=True,
    help="Lowest grade that fails, as in `diff`; `any`: every difference.",
)


def _print_changes(
    changes: Sequence[Change],
    against: str,
    limits: Limits | None,
    format_: str,
    root: str,
) -> int:
    """Print the differences of servers and return the exit code.

    Args:
        against: the name of the definitions or locks that the servers are compared with.
        limits: the grades that fail; None if every difference fails.
    """
    from ...diff.change import AUDIENCES, Grade
    from ...diff.review.verdict import (
        DEFAULT_LIMITS,
        ChangeVerdict,
        Verdict,
        list_failing_audiences,
    )
    from ...reports.item import ReportContext

    verdicts = []
    for change in changes:
        if limits is None:
            pairs = zip(AUDIENCES, change.grades, strict=True)
            audiences = [audience for audience, grade in pairs if grade > Grade.SAFE]
            # With `--fail-on any`, a change that is safe for all audiences also fails.
            failing_audiences = tuple(audiences) or AUDIENCES
        else:
            failing_audiences = tuple(list_failing_audiences(change.grades, limits))
        verdicts.append(ChangeVerdict(change, change.location, None, failing_audiences))
    shown_limits = DEFAULT_LIMITS if limits is None else limits
    verdict = Verdict(against, tuple(verdicts), (), (), shown_limits, ())
    return print_verdict(verdict, format_, ReportContext(root))


def _print_notes(name: str, listing: ServerListing, varying: Sequence[Change]) -> None:
    """Print notes about a server to stderr.

    Args:
        varying: the differences between two starts of the same server.
    """
    for note in listing.notes:
        click.echo(f"note: {name}: {note}", err=True)
    for change in varying:
        note = f"{change.message}; it changes on every start, and does not fail"
        click.echo(f"note: {name}: {printable(note)}", err=True)


@click.command(name="verify")
@click.argument("server", required=False)
@project_option
@server_options
@toolset_option(
    "Toolset to compare with. Default: the one that shares the most tools with the server."
)
@client_option("Client of the toolset that the server serves.")
@python_options
@click.option(
    "--calls",
    metavar="FILE",
    help="Run these calls (JSON lines: tool, arguments) on the server and the generated one.",
)
@click.option(
    "--exclude",
    "excluded_names",
    metavar="NAME",
    multiple=True,
    help="URI or prompt whose content is not compared by --python; may be repeated.",
)
@_fail_on_option
@changes_format_option
def verify(
    server: str | None,
    project: str | None,
    option_servers: tuple[ExternalServer, ...],
    python: str | None,
    interpreter: str | None,
    calls: str | None,
    excluded_names: tuple[str, ...],
    toolset: str | None,
    client: str | None,
    fail_on: str,
    format_: str,
) -> None:
    """Compare a running MCP server with the definitions of a toolset.

    SERVER is a URL or an entry of `mcp_servers`; --mcp-stdio starts a server. With --python,
    the generated server is started, too. Lists and the contents of resources and prompts are
    compared in all MCP versions; required arguments of prompts are `text`. --calls compares
    the results of calls. Differences are graded as in `toolcast diff`. Two differences are
    only notes: values that change on every start, and resources or prompts if the specs
    declare none. Exit codes: 1 for differences, 2 if the server cannot be read or has none
    of the tools.
    """
    from ...diff.listing_changes import compare_listings
    from ...diff.listing_workspace import ListingOwner
    from ...mcp_client.declared_servers import (
        build_declared_listing,
        build_proxied_toolset,
        exclude_external_tools,
        exclude_undeclared_kinds,
        parse_url_server,
    )
    from ...mcp_client.read_server import read_server
    from ...mcp_client.server_listing import ListingError

    limits = None if fail_on == _ANY else parse_limits_or_exit(fail_on)
    if excluded_names and (python is None or calls is not None):
        fail("--exclude requires --python, and no --calls")
    if len(option_servers) + (server is not None) + (python is not None) != 1:
        fail(
            "expected one server\n"
            "  help: pass SERVER, `--mcp-stdio COMMAND`, `--mcp-url URL` or `--python MODULE`"
        )
    workspace = load_workspace_or_exit(project)
    toolsets = select_toolsets_or_exit(workspace, toolset, client)
    entry = None
    seconds = click.get_current_context().params["seconds"]
    try:
        if python is not None:
            target = build_module_server(workspace, python, interpreter, seconds)
        elif server is None:
            (target,) = option_servers
        elif "://" in server:
            target = parse_url_server(server)
        else:
            toolsets, entry = _find_entry(toolsets, server)
            target = entry
        # Compared lists are read twice: values that differ between two starts, such as a
        # timestamp in a description, are printed as notes and do not fail.
        with_contents = python is not None and calls is None
        listing = read_server(target, twice=calls is None, with_contents=with_contents)
    except ListingError as error:
        _fail_unreadable(error)
    selected = _select_toolset(toolsets, listing)
    generated = build_generated_server(workspace, selected, interpreter, seconds)
    if calls is not None:
        sys.exit(verify_calls(calls, target, generated, selected))
    if python is not None:
        try:
            found, code = compare_servers(
                target, listing, generated, selected, excluded_names
            )
        except ListingError as error:
            _fail_unreadable(error)
        against = f"the generated server of {selected.name}"
        root = workspace.root
        sys.exit(max(code, _print_changes(found, against, limits, format_, root)))
    is_proxied = entry is not None and entry.name in selected.proxied_servers
    if entry is not None and is_proxied:
        selected = build_proxied_toolset(selected, entry)
    elif entry is None:
        listing, excluded = exclude_external_tools(selected, listing)
        if excluded:
            verb = "is" if excluded == 1 else "are"
            count = format_count(excluded, "tool")
            note = f"{count} of `mcp_servers` {verb} not compared"
            click.echo(f"note: {target.name}: {note}", err=True)
    has_skills = "skills" in selected.targets and not is_proxied
    declared = build_declared_listing(selected, listing, client, has_skills=has_skills)
    listing, undeclared = exclude_undeclared_kinds(declared, listing)
    for kind, number in undeclared.items():
        note = f"`{kind}` are not compared ({number}): the specs declare none"
        click.echo(f"note: {target.name}: {note}", err=True)
    files = {tool.name: tool.source.file for tool in selected.tools}
    owner = ListingOwner(selected.name, selected.source.file, files)
    changes = compare_listings(declared, listing, owner)
    declared_names = {tool["name"] for tool in declared.tools}
    is_renamed = any(change.rule.id == _RENAMED for change in changes.changes)
    has_no_tool = declared_names.isdisjoint(_list_names(listing))
    if declared_names and not is_renamed and has_no_tool and listing.tools:
        _fail_unrelated(target.name, selected.name, listing, entry)
    _print_notes(target.name, listing, changes.varying)
    against = f"the toolset {selected.name}"
    root = workspace.root
    sys.exit(_print_changes(changes.changes, against, limits, format_, root))


def _fail_unreadable(error: ListingError) -> NoReturn:
    """End the program with exit code 2: a server cannot be read."""
    text = str(error)
    fail(text if "\n  help: " in text else f"{text}\n  help: {_HELP_UNREADABLE}")


def _find_entry(toolsets: list[Toolset], name: str) -> tuple[list[Toolset], McpServer]:
    """Return the toolsets to compare with a server, and its entry in `mcp_servers`.

    If calls of a toolset's tools go to the server (`proxy`), only this toolset is returned,
    otherwise all. Ends the program with exit code 2 if no toolset has the entry.
    """
    pairs = [
        (toolset, server) for toolset in toolsets for server in toolset.mcp_servers
    ]
    matches = [pair for pair in pairs if pair[1].name == name]
    if not matches:
        names = sorted({server.name for _, server in pairs})
        suggestion = suggest_name(name, names) if names else ""
        help_ = suggestion or "use `--mcp-stdio` to start a command"
        fail(f"`mcp_servers` has no `{name}`\n  help: {help_}")
    for toolset, server in matches:
        if name in toolset.proxied_servers:
            return [toolset], server
    return toolsets, matches[0][1]


def _select_toolset(toolsets: list[Toolset], listing: ServerListing) -> Toolset:
    """Return the toolset that shares the most tool names with a server's listing.

    Ends the program with exit code 2 without a toolset, or if two share equally many names.
    A single toolset is returned even if it shares no name.
    """
    if not toolsets:
        fail(
            "the project has no toolset to compare with\n"
            "  help: create one with `toolcast import`"
        )
    names = _list_names(listing)

    def count_shared(toolset: Toolset) -> int:
        return len(names.intersection(tool.name for tool in toolset.tools))

    ranked = sorted(toolsets, key=count_shared, reverse=True)
    if len(ranked) > 1 and count_shared(ranked[0]) == count_shared(ranked[1]):
        fail(
            f"{listing.source}: several toolsets share equally many tools with the server"
            "\n  help: add `--toolset NAME`"
        )
    return ranked[0]


def _list_names(listing: ServerListing) -> set[str]:
    return {tool["name"] for tool in listing.tools}


def _fail_unrelated(
    name: str, toolset: str, listing: ServerListing, entry: McpServer | None
) -> None:
    """End the program with exit code 2: the server lists no tool of the toolset."""
    from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

    names = [f"`{escape_excerpt(tool['name'], 60)}`" for tool in listing.tools]
    help_ = "use `--toolset NAME` to compare with another toolset"
    if entry is not None and entry.lock is not None:
        help_ = f"run `toolcast lock {entry.name}` to compare the server with its lock"
    fail(
        f"{name}: the server lists no tool of the toolset {toolset}, but "
        f"{format_first(names, _MAX_NAMES_SHOWN)}\n  help: {help_}"
    )


class _LockedServer(NamedTuple):
    """An external server with a `lock` in `toolset.yaml`; the file may not exist.

    Attributes:
        path: the lock file, relative to the project's root.
        owner: the owner of the changes in reports: `toolset/server`.
        server: the entry of `mcp_servers`.
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

    limits = None if fail_on == _ANY else parse_limits_or_exit(fail_on)
    workspace = load_workspace_or_exit(project)
    all_changes: list[Change] = []
    compared_paths: list[str] = []
    is_lock_missing = is_failed = False
    for locked in _list_locked_servers(workspace, servers):
        # An error of one server does not end the run: the other servers are compared.
        try:
            listing = read_server(locked.server, twice=True)
        except ListingError as error:
            suffix = "; its lock was not changed" if update else ""
            print_error(f"{error}{suffix}\n  help: {_HELP_UNREADABLE}")
            is_failed = True
            continue
        changes = None
        update_command = f"`toolcast lock --update {locked.server.name}`"
        try:
            changes = _compare_with_lock(locked, listing)
        except ListingError as error:
            if not update:
                help_ = f"restore the file from a commit, or run {update_command}"
                print_error(f"{error}\n  help: {help_}")
                is_failed = True
        varying = [] if changes is None else changes.varying
        _print_notes(locked.server.name, listing, varying)
        if changes is not None:
            all_changes += changes.changes
            compared_paths.append(locked.path)
        elif locked.server.locked is None and not update:
            is_lock_missing = True
            message = f"the lock does not exist; run {update_command} to write it"
            click.echo(f"{locked.path}: {message}", err=True)
        if update and not _write_lock(workspace.root, locked.path, listing):
            is_failed = True
    code = CLEAN
    # JSON and other formats for programs are printed even if no server was compared.
    if compared_paths or format_ != "text":
        against = compared_paths[0] if len(compared_paths) == 1 else "the locks"
        code = _print_changes(all_changes, against, limits, format_, workspace.root)
    # The exit code of an error (2) takes precedence over that of differences (1).
    if is_failed:
        sys.exit(USAGE)
    if update:
        sys.exit(CLEAN)
    sys.exit(FINDINGS if is_lock_missing else code)


def _list_locked_servers(
    workspace: Workspace, names: Sequence[str]
) -> list[_LockedServer]:
    """Return the named servers; without names, return all servers with a `lock` setting.

    Ends the program with exit code 2 if a named server does not exist or has no `lock`, no
    server has a `lock`, or two servers have the same lock file.
    """
    servers = [
        (toolset, server)
        for toolset in workspace.toolsets
        for server in toolset.mcp_servers
    ]
    locked_servers = [
        _LockedServer(
            f"{toolset.folder}/{server.lock}", f"{toolset.name}/{server.name}", server
        )
        for toolset, server in servers
        if server.lock is not None
    ]
    locked_names = {locked.server.name for locked in locked_servers}
    for name in names:
        if name in locked_names:
            continue
        if any(server.name == name for _, server in servers):
            help_ = f"add a file in the toolset's folder: `lock: locks/{name}.json`"
            fail(f"the server `{name}` has no `lock`\n  help: {help_}")
        require_known_name("server", name, sorted(locked_names))
    if not locked_servers:
        fail(
            "no server has a `lock`\n"
            "  help: add `lock: locks/NAME.json` to an entry of `mcp_servers`"
        )
    owners: dict[str, str] = {}
    for locked in locked_servers:
        owner = owners.setdefault(locked.path, locked.owner)
        if owner != locked.owner:
            help_ = "use a different file for each server"
            message = f"{owner} and {locked.owner} have the same lock {locked.path}"
            fail(f"{message}\n  help: {help_}")
    return [
        locked for locked in locked_servers if not names or locked.server.name in names
    ]


def _compare_with_lock(
    locked: _LockedServer, listing: ServerListing
) -> ListingChanges | None:
    """Return the changes since a lock was written; None if the lock does not exist.

    Raises:
        ListingError: the file is not a lock.
    """
    from ...diff.listing_changes import compare_listings
    from ...diff.listing_workspace import ListingOwner
    from ...mcp_client.server_listing import parse_lock

    if locked.server.locked is None:
        return None
    old_listing = parse_lock(locked.server.locked, locked.path)
    return compare_listings(
        old_listing, listing, ListingOwner(locked.owner, locked.path)
    )


def _write_lock(root: str, path: str, listing: ServerListing) -> bool:
    """Write a server's listing to its lock file, and return whether that succeeded.

    An error is printed. Missing folders are created.
    """
    from toolcast_runtime.core.safe_folder import Folder

    from ...encoders.json_text import encode_json
    from ...mcp_client.server_listing import KINDS, build_lock

    data = encode_json(build_lock(listing), tuple(KINDS)).encode()
    parent, _, name = path.rpartition("/")
    try:
        with (
            Folder.open_path(root) as project,
            project.open_subfolder(parent, create=True) as folder,
        ):
            folder.write(name, data)
    except OSError as error:
        reason = error.strerror or error
        print_error(f"{path} was not written: {reason}")
        return False
    click.echo(f"{path}: {format_count(len(listing.tools), 'tool')} locked", err=True)
    return True
