"""`toolcast diff`."""

from __future__ import annotations

import datetime
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from ..exit_codes import (
    counted,
    fail,
    limits_or_end,
    print_findings,
    print_verdict,
    project_root,
)
from ..options import changes_format_option, project_option

if TYPE_CHECKING:
    from ...diff.change import Change
    from ...diff.comparison import Comparison
    from ...diff.review.acceptances import Acceptance
    from ...diff.review.check_findings import CheckFindings
    from ...model.model import Workspace

_SECONDS = 60.0
_NEW = "version: 1\naccept:\n"
_EMPTY_LIST = re.compile(r"^(accept:)[ \t]*\[[ \t]*\]\s*\Z", re.MULTILINE)


class _DiffResult(NamedTuple):
    """Two sides, compared.

    Attributes:
        comparison: what is different.
        sides: both, the old one first.
        against: what a person calls the old one.
        found: the findings of `check` that the change brings and mends.
        root: the project's folder; None for two lists.
        is_first: the old one has no specs.
    """

    comparison: Comparison
    sides: tuple[Workspace, Workspace]
    against: str
    found: CheckFindings
    root: str | None = None
    is_first: bool = False


@click.command(name="diff")
@click.argument("lists", metavar="[OLD NEW]", nargs=-1)
@project_option
@click.option(
    "--against",
    metavar="REF|DIR",
    help="Git reference, or folder with a toolcast.yaml. Default: the last common commit with the main branch.",
)
@click.option(
    "--fail-on",
    metavar="LIMITS",
    default="breaking",
    show_default=True,
    help="Lowest grade that fails: `risky`, `breaking`, `none`, or one per audience: `call=breaking,prompt=risky`.",
)
@changes_format_option
@click.option(
    "--all", "every", is_flag=True, help="Print each of many similar changes."
)
@click.option(
    "--bump",
    is_flag=True,
    help="Print the next version of each toolset and a changelog entry, as Markdown.",
)
@click.option(
    "--accept",
    "accepted",
    metavar="FINGERPRINT",
    multiple=True,
    help="Accept the change with this fingerprint; may be repeated.",
)
@click.option(
    "--accept-file",
    metavar="FILE",
    help="File of accepted changes. Default: toolcast.accept.yaml next to toolcast.yaml.",
)
@click.option("--reason", metavar="TEXT", help="Reason for --accept (required).")
@click.option(
    "--until",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Expiry date of --accept: 2030-12-31.",
)
@click.option(
    "--header",
    "headers",
    metavar="NAME:VALUE",
    multiple=True,
    help="HTTP header for the URLs in OLD and NEW; `${NAME}` is an environment variable.",
)
@click.option(
    "--timeout",
    "seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=_SECONDS,
    help=f"Time limit for start and list. Default: {_SECONDS:g}.",
)
def command(
    lists: tuple[str, ...],
    project: str | None,
    against: str | None,
    fail_on: str,
    format_: str,
    every: bool,
    bump: bool,
    accepted: tuple[str, ...],
    accept_file: str | None,
    reason: str | None,
    until: datetime.datetime | None,
    headers: tuple[str, ...],
    seconds: float,
) -> None:
    """Compare specs, and grade each change for callers, prompts, Python code and access.

    A grade is safe, risky or breaking. Changes that toolcast.accept.yaml accepts are listed
    and do not fail. OLD and NEW are two lists of tools to compare without a project: a file as
    for `toolcast import`, REV:PATH for such a file in a commit, stdio:COMMAND, or a URL. Exit
    codes: 1 for changes at or above --fail-on, 2 if nothing could be compared.
    """
    from ...diff.comparison import load_change_rules
    from ...diff.review.acceptances import ACCEPT_FILE
    from ...diff.review.verdict import judge
    from ...reports.item import ReportContext

    if bump and format_ != "text":
        fail("--bump prints Markdown\n  help: `--format json` has the versions, too")
    if not accepted and (reason is not None or until is not None):
        fail("--reason and --until say why and how long --accept accepts a change")
    if accepted and not (reason or "").strip():
        fail(
            "--accept needs a reason\n  help: `--reason 'Why it is made all the same.'`"
        )
    at = limits_or_end(fail_on)
    today = datetime.date.today()
    if lists:
        others = {"project": project, "against": against, "bump": bump or None}
        compared = _of_lists(lists, headers, seconds, others, today)
    else:
        compared = _of_project(project, against, headers, today)
    comparison, sides = compared.comparison, compared.sides
    if accept_file is None and compared.root is not None:
        accept_file = os.path.join(compared.root, ACCEPT_FILE)
    elif accept_file is not None and not accepted and not os.path.lexists(accept_file):
        fail(f"--accept-file: there is no {accept_file}")
    shown = accept_file or ""
    if shown and compared.root is not None:
        shown = os.path.relpath(shown, compared.root)
    if accepted:
        if accept_file is None:
            fail("--accept needs a file\n  help: `--accept-file toolcast.accept.yaml`")
        day = None if until is None else until.date()
        _accept(accept_file, shown, accepted, reason or "", day, comparison.changes)
    extensions = sides[1].extensions
    verdict = judge(
        comparison,
        sides,
        compared.against,
        limits=at,
        acceptances=[] if accept_file is None else _accepted(accept_file, shown)[1],
        known=load_change_rules(extensions),
        today=today,
        is_first=compared.is_first,
        check_findings=compared.found,
    )
    if bump:
        from ...reports.formats import report_versions

        click.echo(report_versions(verdict), nl=False)
        return
    about = ReportContext(compared.root, shows_all=every, extensions=extensions)
    sys.exit(print_verdict(verdict, format_, about))


def _of_project(
    project: str | None,
    against: str | None,
    headers: tuple[str, ...],
    today: datetime.date,
) -> _DiffResult:
    """The project, and what it is compared with."""
    from ...diff.comparison import Comparison, compare
    from ...diff.review.check_findings import NO_FINDINGS, compare_findings
    from ..compared_versions import sides_or_end

    if headers:
        fail("--header is sent to an address: name two sides, OLD and NEW")
    root = project_root(project)
    before, after, name, read = sides_or_end(root, against)
    if before is None:
        nothing = Comparison([], [])
        return _DiffResult(nothing, (after, after), name, NO_FINDINGS, root, True)
    found = compare_findings(before, after, read, today)
    return _DiffResult(compare(before, after), (before, after), name, found, root)


def _of_lists(
    words: tuple[str, ...],
    headers: tuple[str, ...],
    seconds: float,
    of_projects: Mapping[str, object],
    today: datetime.date,
) -> _DiffResult:
    """Two lists of tools; ends the program where it cannot be two, or have such options."""
    from .list_sources import list_sides_or_end

    if len(words) != 2:
        help_ = (
            "`toolcast diff` alone compares a project, `--against REF` with a commit"
        )
        fail(f"name two sides, OLD and NEW\n  help: {help_}")
    for option, value in of_projects.items():
        if value is not None:
            fail(f"--{option} is about a project, and OLD and NEW are two lists")
    both = words[0], words[1]
    sides, comparison, found = list_sides_or_end(both, headers, seconds, today)
    return _DiffResult(comparison, sides, words[0], found)


def _accepted(
    file: str,
    shown: str,
    words: str = "the acceptances cannot be read, so nothing is decided",
) -> tuple[bytes, list[Acceptance]]:
    """The bytes and the accepted changes of a file, which findings call as it is shown.

    Ends the program with exit code 2, and these words, where they have errors.
    """
    from ...diff.review.acceptances import (
        AcceptanceFileError,
        parse_acceptances,
        read_acceptance_file,
    )
    from ...parsing.project_files import DiskFiles

    folder, name = os.path.split(os.path.abspath(file))
    try:
        data = read_acceptance_file(DiskFiles(folder), name)
        return data, parse_acceptances(data, shown)
    except AcceptanceFileError as unreadable:
        findings = [
            replace(one, location=one.location._replace(file=shown))
            for one in unreadable.findings
        ]
        print_findings(findings, "text")
        fail(words)


def _accept(
    file: str,
    shown: str,
    fingerprints: Sequence[str],
    reason: str,
    until: datetime.date | None,
    changes: Sequence[Change],
) -> None:
    """Adds an entry for each fingerprint behind those that are there, as they stand.

    Args:
        file: the path of the acceptances.
        shown: what messages call it.

    Ends the program with exit code 2, and writes nothing, where one is that of no change,
    or the file would not be read as it was with the entries added.
    """
    from toolcast_runtime.core.safe_folder import Folder

    from ...suggestions import did_you_mean

    today = datetime.date.today()
    folder_path, name = os.path.split(os.path.abspath(file))
    known = [change.fingerprint for change in changes]
    for one in fingerprints:
        if one not in known:
            near = did_you_mean(one, known)
            help_ = f"\n  help: {near}" if near else ""
            fail(f"no change has the fingerprint `{one}`{help_}")
    if until is not None and until <= today:
        fail(f"--until: {until} has come already, so nothing would be accepted")
    if not reason.isprintable():
        fail("--reason is one line of text that can be seen")
    try:
        data, before = _accepted(file, shown, "nothing was written")
        in_force = {one.fingerprint for one in before if not one.is_expired(today)}
        new = [one for one in dict.fromkeys(fingerprints) if one not in in_force]
        # The column of an entry is that of its first key, behind `- `.
        indent = " " * (before[-1].location.column - 3 if before else 2)
        entries = "".join(_entry(one, reason, until, indent) for one in new)
        written = _with_entries(data.decode(), entries).encode()
        if not _adds(before, new, written):
            fail(
                f"{shown} does not end with its list, so nothing was written;"
                f" add yourself:\n{entries.rstrip()}"
            )
        if new:
            with Folder.open_path(folder_path) as folder:
                folder.write(name, written)
    except OSError as error:
        fail(f"{shown}: {error.strerror or error}; nothing was written")
    count = counted(len(new), "change")
    message = f"{count} accepted" if new else "accepts this already"
    click.echo(f"{shown}: {message}", err=True)


def _with_entries(text: str, entries: str) -> str:
    text = _EMPTY_LIST.sub(r"\1", text).rstrip()
    line_end = "\r\n" if "\r\n" in text else "\n"
    return (f"{text}{line_end}" if text else _NEW) + entries.replace("\n", line_end)


def _adds(before: list[Acceptance], new: list[str], written: bytes) -> bool:
    """Whether a file's bytes have the entries as they were, and then the new ones."""
    from ...diff.review.acceptances import AcceptanceFileError, parse_acceptances

    try:
        after = parse_acceptances(written)
    except AcceptanceFileError:
        return False
    added = [one.fingerprint for one in after[len(before) :]]
    return after[: len(before)] == before and added == new


def _entry(
    fingerprint: str, reason: str, until: datetime.date | None, indent: str
) -> str:
    from ...encoders.json_text import encode_compact_json
    from ...encoders.yaml_block import encode_scalar

    rows = [
        f"- fingerprint: {encode_compact_json(fingerprint)}",
        f"  reason: {encode_scalar(reason)}",
    ]
    if until is not None:
        rows.append(f"  until: {encode_compact_json(until.isoformat())}")
    return "".join(f"{indent}{row}\n" for row in rows)
