"""The two sides of `toolcast diff OLD NEW`: lists in files, revisions and live servers."""

from __future__ import annotations

import datetime
import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
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

_STDIO = "stdio:"
_URLS = ("http://", "https://")
_MAX_NOTES = 20
"""Notes on one source that are printed; of the others, only their number."""
_ABOUT_PROJECTS = (
    "access/",
    "cli/",
    "spec/",
    "target/",
    "prompt/summary-long",
    "prompt/usage-missing",
)
"""Rules about what a list does not have: clients, summaries, prompt docs, outputs."""


def list_sides_or_end(
    words: tuple[str, str],
    headers: Sequence[str],
    seconds: float,
    today: datetime.date,
) -> tuple[tuple[Workspace, Workspace], Comparison, CheckFindings]:
    """Both lists, the old one first, what has changed, and the findings that it brings.

    Tells on stderr what is odd in them. Of rules those count that are about texts, names
    and schemas.

    Ends the program with exit code 2 where one cannot be had; the message names the side.

    Args:
        words: OLD and NEW: a file, `REV:PATH`, `stdio:COMMAND` or an address.
        headers: those of `--header`, for addresses.
        seconds: how long a server may take to start, and to list.
    """
    if headers and not any(word.startswith(_URLS) for word in words):
        fail("--header is sent to an address, and neither side is one")
    sources: list[ToolSource] = []
    problems = []
    for side, word in zip(("OLD", "NEW"), words, strict=True):
        try:
            sources.append(_source(word, headers, seconds))
        except ListingError as error:
            problems.append(f"{side}: {error}")
    if problems:
        fail("\n".join(problems))
    for side, source in zip(("OLD", "NEW"), sources, strict=True):
        notes = [*source.notes, *source.listing.notes, *_unsaid(source)]
        more = len(notes) - _MAX_NOTES
        rest = [f"and {more} more"] if more > 0 else []
        for note in (*notes[:_MAX_NOTES], *rest):
            click.echo(f"note: {side}: {printable(note)}", err=True)
    old, new = (build_list_workspace(one.listing, one.name) for one in sources)
    listings = sources[0].listing, sources[1].listing
    before, after = prepare_for_rules(old), prepare_for_rules(new)
    read = [*_read(listings[0])], [*_read(listings[1])]
    found = CheckFindings(
        # A list has no lines.
        *(
            [replace(one, location=Location(one.location.file)) for one in side]
            for side in compare_findings(before, after, read, today, _ABOUT_PROJECTS)
        )
    )
    return (old, new), compare_tool_lists((old, new), listings, today), found


def _read(listing: ServerListing) -> Iterator[Finding]:
    """What a reader of specs would find: names, odd members, characters that nobody sees."""
    names = set()
    for tool in listing.tools:
        name = tool["name"]
        place = Location(name if is_tool_name(name) else "tools")
        for rule, message, help_, severity in _odd(tool, name in names):
            yield Finding(rule, severity, place, message, help_)
        names.add(name)
        for text in _texts(tool):
            if found := check_characters(text):
                rule, message, help_, severity = found
                yield Finding(rule, severity, place, message, help_)


def _odd(
    tool: Mapping[str, Any], is_second: bool
) -> Iterator[tuple[str, str, str, Severity]]:
    """What is wrong with a tool of a list, and cannot be in a spec."""
    name = tool["name"]
    if is_second:
        message = f"another tool is called `{name}`, too"
        yield "name/similar", message, "only one can be called", Severity.WARNING
    if not is_tool_name(name):
        message = f"`{name}` is no name that MCP has for tools"
        help_ = "1 to 128 of A-Z a-z 0-9 _ . -: others look like it, or are refused"
        yield "name/portability", message, help_, Severity.WARNING
    found = list_refusals(tool).items()
    odd = {(str(one.path[0]), one.problem) for _, each in found for one in each}
    for member, problem in sorted(odd):
        # What a spec can say is for the rules, which see the rest.
        if member in MEMBER_TYPES and not isinstance(
            tool.get(member), MEMBER_TYPES[member]
        ):
            message = f"clients refuse this server's list: `{member}` {problem}"
            help_ = "write what the protocol asks for"
            yield "compat/strict-client", message, help_, Severity.WARNING


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        yield from (text for inner in value.values() for text in _texts(inner))
    elif isinstance(value, list):
        yield from (text for inner in value for text in _texts(inner))


def _unsaid(source: ToolSource) -> list[str]:
    """What is there and not compared."""
    fields = sorted({field for there in source.fields.values() for field in there})
    return [f"`{field}` of tools is not compared" for field in fields]


def _source(word: str, headers: Sequence[str], seconds: float) -> ToolSource:
    """The list that a word names.

    Raises:
        ListingError: there is none; with the place and what to do.
    """
    if word.startswith(_STDIO):
        return _live(parse_command_server(word.removeprefix(_STDIO)), seconds)
    if word.startswith(_URLS):
        server = replace(parse_url_server(word), headers=parse_headers(headers))
        return _live(server, seconds)
    if os.path.lexists(word):
        return read_lenient_source(word)
    revision, colon, path = word.partition(":")
    if colon:
        return parse_lenient_source(_committed(revision, path), word)
    help_ = "a side is a file, REV:PATH, stdio:COMMAND or an http(s) address"
    raise ListingError(f"there is no file {printable(word)}\n  help: {help_}")


def _live(server: ExternalServer, seconds: float) -> ToolSource:
    bounded = replace(server, connect_timeout=seconds, list_timeout=seconds)
    return source_from_server(read_server(bounded))


def _committed(revision: str, path: str) -> bytes:
    """The bytes of a file in a commit; a path is the repository's, or begins with `./`."""
    shown = printable(f"{revision}:{path}")
    if not revision or revision.startswith("-"):
        raise ListingError(
            f"{shown}: a revision is a commit, a branch or a tag, and begins with no `-`"
        )
    here = os.getcwd()
    top = find_repository(here)
    if top is None:
        raise ListingError(
            f"{shown}: there is no such file, and no git repository here"
        )
    if path.startswith(("./", "../")):
        below = os.path.relpath(os.path.realpath(here), top).replace(os.sep, "/")
        path = posixpath.join(below, path)
    path = posixpath.normpath(path)
    if path.startswith(("/", "..")) or path == ".":
        raise ListingError(f"{shown}: the path is no file of the repository")
    try:
        files = CommitFiles(top, resolve_commit(top, revision))
        return files.read(path, MAX_SOURCE_BYTES + 1)
    except ShallowCloneError as clone:
        raise ListingError(f"{shown}: {clone}") from None
    except OSError as error:
        raise ListingError(f"{shown}: {error.strerror or error}") from None
    except GitError as failure:
        raise ListingError(f"{shown}: {failure}") from None
