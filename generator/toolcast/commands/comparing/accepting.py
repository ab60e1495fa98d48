"""Writes acceptances into toolcast.accept.yaml: `toolcast diff --accept`."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Sequence

import click

from toolcast_runtime.files.folder import Folder

from ...changes.change import Change
from ...changes.review.acceptances import (
    Acceptance,
    UnreadableAcceptances,
    acceptance_file,
    accepted_in,
)
from ...encoders.json_text import compact
from ...encoders.yaml_block import scalar
from ...reading.project_files import DiskFiles
from ...suggestions import did_you_mean
from ..exit_codes import counted, fail, print_findings

__all__ = ["accept"]

_NEW = "version: 1\naccept:\n"
_EMPTY_LIST = re.compile(r"^(accept:)[ \t]*\[[ \t]*\]\s*\Z", re.MULTILINE)


def accept(
    file: str,
    fingerprints: Sequence[str],
    reason: str,
    until: datetime.date | None,
    changes: Sequence[Change],
) -> None:
    """Adds an entry for each fingerprint behind those that are there, as they stand.

    Args:
        file: the path of the acceptances.

    Ends the program with exit code 2, and writes nothing, where one is that of no change,
    or the file would not be read as it was with the entries added.
    """
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
        data = acceptance_file(DiskFiles(folder_path), name)
        before = accepted_in(data, name)
        in_force = {one.fingerprint for one in before if not one.is_over(today)}
        new = [one for one in dict.fromkeys(fingerprints) if one not in in_force]
        # The column of an entry is that of its first key, behind `- `.
        indent = " " * (before[-1].place.column - 3 if before else 2)
        entries = "".join(_entry(one, reason, until, indent) for one in new)
        written = _with_entries(data.decode(), entries).encode()
        if not _adds(before, new, written):
            fail(
                f"{name} does not end with its list, so nothing was written;"
                f" add yourself:\n{entries.rstrip()}"
            )
        if new:
            with Folder.at(folder_path) as folder:
                folder.write(name, written)
    except UnreadableAcceptances as unreadable:
        print_findings(unreadable.findings, "text")
        fail("nothing was written")
    except OSError as error:
        fail(f"{name}: {error.strerror or error}; nothing was written")
    count = counted(len(new), "change")
    message = f"{count} accepted" if new else "accepts this already"
    click.echo(f"{name}: {message}", err=True)


def _with_entries(text: str, entries: str) -> str:
    text = _EMPTY_LIST.sub(r"\1", text).rstrip()
    line_end = "\r\n" if "\r\n" in text else "\n"
    return (f"{text}{line_end}" if text else _NEW) + entries.replace("\n", line_end)


def _adds(before: list[Acceptance], new: list[str], written: bytes) -> bool:
    """Whether a file's bytes have the entries as they were, and then the new ones."""
    try:
        after = accepted_in(written)
    except UnreadableAcceptances:
        return False
    added = [one.fingerprint for one in after[len(before) :]]
    return after[: len(before)] == before and added == new


def _entry(
    fingerprint: str, reason: str, until: datetime.date | None, indent: str
) -> str:
    rows = [f"- fingerprint: {compact(fingerprint)}", f"  reason: {scalar(reason)}"]
    if until is not None:
        rows.append(f"  until: {compact(until.isoformat())}")
    return "".join(f"{indent}{row}\n" for row in rows)
