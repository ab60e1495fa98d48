"""The command `toolcast diff`."""

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
    fail,
    format_count,
    parse_limits_or_exit,
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

_DEFAULT_TIMEOUT_S = 60.0
_EMPTY_FILE = "version: 1\naccept:\n"
"""Text of a new file of accepted changes, to which entries are appended."""
# `accept: []` at the end of the file. The brackets are removed before entries are appended
# below the key.
_EMPTY_LIST = re.compile(r"^(accept:)[ \t]*\[[ \t]*\]\s*\Z", re.MULTILINE)


class _DiffResult(NamedTuple):
    """The comparison of two versions of a project, or of two tool lists.

    Attributes:
        comparison: the changes.
        versions: the old and the new version.
        old_name: the name of the old version in messages.
        check_findings: the findings of `toolcast check` that the changes add and fix.
        root: the project's folder; None for two tool lists.
        is_first: whether the old version of the project has no toolcast.yaml.
    """

    comparison: Comparison
    versions: tuple[Workspace, Workspace]
    old_name: str
    check_findings: CheckFindings
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
    "--merge-base",
    is_flag=True,
    help="Compare with the last common commit with the reference of --against.",
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
    "--all",
    "every",
    is_flag=True,
    help="Print similar changes one by one.",
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
    default=_DEFAULT_TIMEOUT_S,
    help=f"Time limit for start and list. Default: {_DEFAULT_TIMEOUT_S:g}.",
)
def command(
    lists: tuple[str, ...],
    project: str | None,
    against: str | None,
    merge_base: bool,
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
        fail(
            "--bump prints Markdown and cannot be combined with --format\n"
            "  help: remove one of them; `--format json` contains the versions, too"
        )
    if not accepted and (reason is not None or until is not None):
        fail("--reason and --until require --accept")
    if accepted and not (reason or "").strip():
        fail("--accept requires a reason\n  help: add `--reason TEXT`")
    limits = parse_limits_or_exit(fail_on)
    today = datetime.date.today()
    if lists:
        project_options = {
            "project": project,
            "against": against,
            "merge_base": merge_base or None,
            "bump": bump or None,
        }
        result = _compare_lists(lists, headers, seconds, project_options, today)
    else:
        result = _compare_project(
            project, against, headers, today, with_merge_base=merge_base
        )
    comparison, versions = result.comparison, result.versions
    if accept_file is None and result.root is not None:
        accept_file = os.path.join(result.root, ACCEPT_FILE)
    # With `--accept`, a missing file is created below.
    elif accept_file is not None and not accepted and not os.path.lexists(accept_file):
        fail(f"--accept-file: {accept_file} does not exist")
    accept_file_name = accept_file or ""
    if accept_file_name and result.root is not None:
        accept_file_name = os.path.relpath(accept_file_name, result.root)
    if accepted:
        if accept_file is None:
            fail(
                "--accept requires --accept-file when OLD and NEW are compared\n"
                "  help: add `--accept-file toolcast.accept.yaml`"
            )
        _add_acceptances(
            accept_file,
            accept_file_name,
            accepted,
            reason or "",
            None if until is None else until.date(),
            comparison.changes,
        )
    acceptances: list[Acceptance] = []
    if accept_file is not None:
        _, acceptances = _read_acceptances_or_exit(accept_file, accept_file_name)
    extensions = versions[1].extensions
    verdict = judge(
        comparison,
        versions,
        result.old_name,
        limits=limits,
        acceptances=acceptances,
        known=load_change_rules(extensions),
        today=today,
        is_first=result.is_first,
        check_findings=result.check_findings,
    )
    # `--bump` only prints the next version: the grades do not affect the exit code.
    if bump:
        from ...reports.formats import report_versions

        click.echo(report_versions(verdict), nl=False)
        return
    context = ReportContext(
        result.root, shows_all=every, extensions=extensions, shows_texts=bool(lists)
    )
    sys.exit(print_verdict(verdict, format_, context))


def _compare_project(
    project: str | None,
    against: str | None,
    headers: tuple[str, ...],
    today: datetime.date,
    *,
    with_merge_base: bool,
) -> _DiffResult:
    """Compare the project's specs on disk with a commit or a folder.

    Without an old toolcast.yaml, there are no changes. Ends the program with exit code 2 if a
    version cannot be loaded.
    """
    from ...diff.comparison import Comparison, compare
    from ...diff.review.check_findings import NO_FINDINGS, compare_findings
    from ..compared_versions import load_versions_or_exit

    if headers:
        fail("--header requires a URL as OLD or NEW")
    root = project_root(project)
    old, new, name, load_findings = load_versions_or_exit(
        root, against, with_merge_base=with_merge_base
    )
    if old is None:
        unchanged = Comparison([], [])
        return _DiffResult(
            unchanged, (new, new), name, NO_FINDINGS, root, is_first=True
        )
    findings = compare_findings(old, new, load_findings, today)
    return _DiffResult(compare(old, new), (old, new), name, findings, root)


def _compare_lists(
    sources: tuple[str, ...],
    headers: tuple[str, ...],
    seconds: float,
    project_options: Mapping[str, object],
    today: datetime.date,
) -> _DiffResult:
    """Compare the tool lists that the arguments OLD and NEW name.

    Ends the program with exit code 2 if there are not two arguments, a list cannot be read, or
    an option is set that applies only to projects.

    Args:
        project_options: the values of the options that apply only to projects; None if an
            option is not used.
    """
    from .list_sources import compare_listings_or_exit

    if len(sources) != 2:
        fail(
            "expected two tool lists, OLD and NEW\n"
            "  help: to compare the project with a commit, run `toolcast diff --against REF`"
        )
    for option, value in project_options.items():
        if value is not None:
            fail(f"--{option} cannot be combined with OLD and NEW")
    versions, comparison, findings = compare_listings_or_exit(
        (sources[0], sources[1]), headers, seconds, today
    )
    return _DiffResult(comparison, versions, sources[0], findings)


def _read_acceptances_or_exit(
    file: str,
    file_name: str,
    message: str = "the accepted changes cannot be read; nothing was compared",
) -> tuple[bytes, list[Acceptance]]:
    """Return the content of a file of accepted changes, and the parsed entries.

    If the file has errors, prints the findings and the message, and ends the program with
    exit code 2.

    Args:
        file_name: the file's path in findings.
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
        return data, parse_acceptances(data, file_name)
    except AcceptanceFileError as error:
        findings = [
            replace(finding, location=finding.location._replace(file=file_name))
            for finding in error.findings
        ]
        print_findings(findings, "text")
        fail(message)


def _add_acceptances(
    file: str,
    file_name: str,
    fingerprints: Sequence[str],
    reason: str,
    until: datetime.date | None,
    changes: Sequence[Change],
) -> None:
    """Append an entry per fingerprint to the file of accepted changes.

    The other text of the file is unchanged. Fingerprints that an entry already accepts are
    skipped, unless that entry has expired. Ends the program with exit code 2, and writes
    nothing, if no change has one of the fingerprints, an argument is invalid, or entries
    cannot be appended to the file's text.

    Args:
        file: the path of the file; it is created if it does not exist.
        file_name: the file's path in messages.
        until: the date on which the acceptance expires; None for no limit.
        changes: the changes of the comparison.
    """
    from toolcast_runtime.core.safe_folder import Folder

    from ...suggestions import did_you_mean

    today = datetime.date.today()
    folder_path, name = os.path.split(os.path.abspath(file))
    change_fingerprints = [change.fingerprint for change in changes]
    for fingerprint in fingerprints:
        if fingerprint not in change_fingerprints:
            suggestion = did_you_mean(fingerprint, change_fingerprints)
            help_ = f"\n  help: {suggestion}" if suggestion else ""
            fail(f"no change has the fingerprint `{fingerprint}`{help_}")
    if until is not None and until <= today:
        fail(f"--until: {until} is not in the future\n  help: pass a later date")
    if not reason.isprintable():
        fail(
            "--reason contains a line break or an unprintable character\n"
            "  help: pass one line of printable text"
        )
    try:
        data, old_entries = _read_acceptances_or_exit(
            file, file_name, "nothing was written"
        )
        in_force = {
            entry.fingerprint for entry in old_entries if not entry.is_expired(today)
        }
        added = [key for key in dict.fromkeys(fingerprints) if key not in in_force]
        # The column of an entry is the 1-based column of its first key, which is two
        # characters after its `-`.
        indent = " " * (old_entries[-1].location.column - 3 if old_entries else 2)
        new_text = "".join(_format_entry(key, reason, until, indent) for key in added)
        new_data = _append_entries(data.decode(), new_text).encode()
        # The entries are appended as text, to keep comments and layout. Parse the new text to
        # verify that it contains the entries.
        if not _has_appended(old_entries, added, new_data):
            fail(
                f"{file_name}: the list `accept` is not the end of the file; nothing was"
                f" written\n  help: add these lines to the list:\n{new_text.rstrip()}"
            )
        if added:
            with Folder.open_path(folder_path) as folder:
                folder.write(name, new_data)
    except OSError as error:
        fail(f"{file_name}: {error.strerror or error}; nothing was written")
    count = format_count(len(added), "change")
    message = f"{count} accepted" if added else "already accepted"
    click.echo(f"{file_name}: {message}", err=True)


def _append_entries(text: str, entries: str) -> str:
    """Return the file's text with entries at its end; its line endings are used."""
    text = _EMPTY_LIST.sub(r"\1", text).rstrip()
    line_end = "\r\n" if "\r\n" in text else "\n"
    start = f"{text}{line_end}" if text else _EMPTY_FILE
    return start + entries.replace("\n", line_end)


def _has_appended(
    old_entries: list[Acceptance], fingerprints: list[str], data: bytes
) -> bool:
    """Return whether a file has the old entries, followed by one per fingerprint.

    False if the file is invalid.
    """
    from ...diff.review.acceptances import AcceptanceFileError, parse_acceptances

    try:
        entries = parse_acceptances(data)
    except AcceptanceFileError:
        return False
    count = len(old_entries)
    added = [entry.fingerprint for entry in entries[count:]]
    return entries[:count] == old_entries and added == fingerprints


def _format_entry(
    fingerprint: str, reason: str, until: datetime.date | None, indent: str
) -> str:
    from ...encoders.json_text import encode_compact_json
    from ...encoders.yaml_block import encode_scalar

    lines = [
        f"- fingerprint: {encode_compact_json(fingerprint)}",
        f"  reason: {encode_scalar(reason)}",
    ]
    if until is not None:
        lines.append(f"  until: {encode_compact_json(until.isoformat())}")
    return "".join(f"{indent}{line}\n" for line in lines)
