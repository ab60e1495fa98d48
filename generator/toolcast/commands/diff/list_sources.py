"""Read and compare the two tool lists of `toolcast diff OLD NEW`."""

from __future__ import annotations

import datetime
import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ...analysis.mcp_definitions import list_refusals
from ...analysis.name_limits import is_tool_name
from ...diff.comparison import Comparison, compare_tool_lists
from ...diff.listing_workspace import (
    MEMBER_TYPES,
    build_list_workspace,
    prepare_for_rules,
)
from ...diff.review.check_findings import CheckFindings, compare_findings
from ...findings import Finding, Location, Severity
from ...git.commit import CommitFiles, ShallowCloneError, resolve_commit
from ...git.program import GitError, find_repository
from ...importing.formats import ToolSource, source_from_server
from ...importing.source_file import (
    MAX_SOURCE_BYTES,
    parse_lenient_source,
    read_lenient_source,
)
from ...mcp_client.declared_servers import (
    parse_command_server,
    parse_headers,
    parse_url_server,
)
from ...mcp_client.read_server import read_server
from ...mcp_client.server_listing import ListingError, ServerListing
from ...parsing.characters import check_characters
from ...reports.escaping import printable
from ..exit_codes import fail

if TYPE_CHECKING:
    from toolcast_runtime.core.server_settings import ExternalServer

    from ...model.model import Workspace

_STDIO_PREFIX = "stdio:"
_URL_PREFIXES = ("http://", "https://")
_MAX_NOTES = 20
"""Maximum number of notes on one tool list that are printed; further notes are counted."""
_PROJECT_RULES = (
    "access/",
    "cli/",
    "spec/",
    "target/",
    "prompt/summary-long",
    "prompt/usage-missing",
)
"""Prefixes of the ids of rules that do not apply to a tool list.

A tool list has no clients, summaries, prompts and generated files.
"""


def compare_listings_or_exit(
    arguments: tuple[str, str],
    headers: Sequence[str],
    seconds: float,
    today: datetime.date,
) -> tuple[tuple[Workspace, Workspace], Comparison, CheckFindings]:
    """Read two tool lists, compare them, and check them with the rules.

    Prints notes about the lists to stderr. Ends the program with exit code 2 if a list cannot
    be read; the message contains OLD or NEW.

    Args:
        arguments: OLD and NEW, each a file, `REV:PATH`, `stdio:COMMAND` or a URL.
        headers: the values of `--header`, sent to URLs.
        seconds: the time limit for the start and for the list request of a server.
        today: the date that expiry dates are compared with.

    Returns:
        The lists as workspaces, the comparison, and the findings of `check` that the changes
        add and fix. Rules that do not apply to tool lists are left out.
    """
    if headers and not any(
        argument.startswith(_URL_PREFIXES) for argument in arguments
    ):
        fail("--header requires a URL as OLD or NEW")
    sources: list[ToolSource] = []
    problems = []
    for label, argument in zip(("OLD", "NEW"), arguments, strict=True):
        try:
            sources.append(_read_source(argument, headers, seconds))
        except ListingError as error:
            problems.append(f"{label}: {error}")
    if problems:
        fail("\n".join(problems))
    for label, source in zip(("OLD", "NEW"), sources, strict=True):
        _print_notes(label, source)
    old, new = (build_list_workspace(source.listing, source.name) for source in sources)
    listings = sources[0].listing, sources[1].listing
    findings = compare_findings(
        prepare_for_rules(old),
        prepare_for_rules(new),
        ([*_check_listing(listings[0])], [*_check_listing(listings[1])]),
        today,
        _PROJECT_RULES,
    )
    # Rules check specs that were built from the lists. Their line numbers have no meaning for
    # the user, who sees only the lists.
    findings = CheckFindings(*(_remove_lines(group) for group in findings))
    return (old, new), compare_tool_lists((old, new), listings, today), findings


def _print_notes(label: str, source: ToolSource) -> None:
    notes = [*source.notes, *source.listing.notes]
    hidden = len(notes) - _MAX_NOTES
    notes = notes[:_MAX_NOTES]
    if hidden > 0:
        notes.append(f"and {hidden} more")
    for note in notes:
        click.echo(f"note: {label}: {printable(note)}", err=True)


def _remove_lines(findings: Iterable[Finding]) -> list[Finding]:
    return [
        replace(finding, location=Location(finding.location.file))
        for finding in findings
    ]


def _check_listing(listing: ServerListing) -> Iterator[Finding]:
    """Yield the findings that no rule reports: invalid names, characters and members.

    For a project, these problems are reported when its specs are loaded.
    """
    names = set()
    for tool in listing.tools:
        name = tool["name"]
        location = Location(name if is_tool_name(name) else "tools")
        problems = [*_check_entry(tool, is_duplicate=name in names)]
        names.add(name)
        for text in _list_strings(tool):
            if problem := check_characters(text):
                problems.append(problem)
        for rule, message, help_, severity in problems:
            yield Finding(rule, severity, location, message, help_)


def _check_entry(
    tool: Mapping[str, Any], *, is_duplicate: bool
) -> Iterator[tuple[str, str, str, Severity]]:
    """Yield the rule, message, help and severity of each problem of a list entry.

    These are problems that a spec cannot have, such as a duplicate name.
    """
    name = tool["name"]
    if is_duplicate:
        message = f"another tool has the name `{name}`, too"
        help_ = "rename one of them: only one can be called"
        yield "name/similar", message, help_, Severity.WARNING
    if not is_tool_name(name):
        message = f"`{name}` is not a valid tool name in MCP"
        help_ = "use 1 to 128 characters of A-Z a-z 0-9 _ . -"
        yield "name/portability", message, help_, Severity.WARNING
    refusals = [refusal for group in list_refusals(tool).values() for refusal in group]
    problems = {(str(refusal.path[0]), refusal.problem) for refusal in refusals}
    for member, problem in sorted(problems):
        # A member of the correct type is part of the spec that is built from the entry, so
        # that the rules check its value.
        if member in MEMBER_TYPES and not isinstance(
            tool.get(member), MEMBER_TYPES[member]
        ):
            message = f"clients reject this server's tool list: `{member}` {problem}"
            help_ = f"change `{member}` to the type that MCP requires"
            yield "compat/strict-client", message, help_, Severity.WARNING


def _list_strings(value: Any) -> Iterator[str]:
    """Yield all strings in a JSON value at any depth, and the keys of its objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        for member in value.values():
            yield from _list_strings(member)
    elif isinstance(value, list):
        for item in value:
            yield from _list_strings(item)


def _read_source(argument: str, headers: Sequence[str], seconds: float) -> ToolSource:
    """Read the tool list that OLD or NEW names.

    Raises:
        ListingError: the list cannot be read; the message contains its location and a help.
    """
    if argument.startswith(_STDIO_PREFIX):
        server = parse_command_server(argument.removeprefix(_STDIO_PREFIX))
        return _read_server(server, seconds)
    if argument.startswith(_URL_PREFIXES):
        server = replace(parse_url_server(argument), headers=parse_headers(headers))
        return _read_server(server, seconds)
    # An existing file takes precedence over REV:PATH, since its name may contain a colon.
    if os.path.lexists(argument):
        return read_lenient_source(argument)
    revision, colon, path = argument.partition(":")
    if colon:
        return parse_lenient_source(_read_committed_file(revision, path), argument)
    help_ = "use a file, REV:PATH, stdio:COMMAND or an http(s) URL"
    raise ListingError(f"there is no file {printable(argument)}\n  help: {help_}")


def _read_server(server: ExternalServer, seconds: float) -> ToolSource:
    """Read a server's tool list; its start and the list request have the time limit."""
    limited = replace(server, connect_timeout=seconds, list_timeout=seconds)
    return source_from_server(read_server(limited))


def _read_committed_file(revision: str, path: str) -> bytes:
    """Return the content of a file in a commit.

    Args:
        path: relative to the repository, or to the current folder if it begins with `./` or
            `../`, as in git.

    Raises:
        ListingError: the revision or the file does not exist.
    """
    label = printable(f"{revision}:{path}")
    # A revision that begins with `-` would be an option of the git command.
    if not revision or revision.startswith("-"):
        raise ListingError(
            f"{label}: the revision is invalid\n  help: use a commit, a branch or a tag"
        )
    current = os.getcwd()
    repository = find_repository(current)
    if repository is None:
        raise ListingError(
            f"{label}: there is no such file, and the current folder is not in a git"
            " repository"
        )
    if path.startswith(("./", "../")):
        prefix = os.path.relpath(os.path.realpath(current), repository)
        path = posixpath.join(prefix.replace(os.sep, "/"), path)
    path = posixpath.normpath(path)
    if path.startswith(("/", "..")) or path == ".":
        raise ListingError(
            f"{label}: the path is not a file of the repository\n"
            "  help: use a path relative to the repository, or one that begins with `./`"
        )
    try:
        files = CommitFiles(repository, resolve_commit(repository, revision))
        return files.read(path, MAX_SOURCE_BYTES + 1)
    except (ShallowCloneError, GitError) as error:
        raise ListingError(f"{label}: {error}") from None
    except OSError as error:
        raise ListingError(f"{label}: {error.strerror or error}") from None
