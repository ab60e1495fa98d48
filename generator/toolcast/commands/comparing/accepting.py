"""Writes acceptances into toolcast.accept.yaml: `toolcast diff --accept`."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace

import click

from toolcast_runtime.files.folder import Folder

from ...changes.change import Change
from ...changes.review.acceptances import (
    ACCEPT_FILE,
    UnreadableAcceptances,
    accepted_in,
)
from ...encoders.json_text import compact
from ...encoders.yaml_text import scalar
from ...reading.project_files import DiskFiles
from ...reading.tree import NOWHERE
from ...reading.yaml_reader import MAX_BYTES
from ...wording import did_you_mean
from ..exit_codes import counted, fail, print_findings

__all__ = ["accept"]

_NEW = b"version: 1\naccept:\n"


def accept(
    root: str,
    fingerprints: Sequence[str],
    reason: str,
    until: str | None,
    changes: Sequence[Change],
) -> None:
    """Adds an entry for each fingerprint behind those that are there, as they stand.

    Ends the program with exit code 2, and writes nothing, where one is that of no change,
    or the file would not be read as it was with the entries added.
    """
    known = [change.fingerprint for change in changes]
    for one in fingerprints:
        if one not in known:
            near = did_you_mean(one, known)
            help_ = f"\n  help: {near}" if near else ""
            fail(f"no change has the fingerprint `{one}`{help_}")
    if until is not None and not _is_day(until):
        fail(f"--until: `{until}` is no day\n  help: write it as 2030-12-31")
    files = DiskFiles(root)
    try:
        there = (
            files.read(ACCEPT_FILE, MAX_BYTES + 1)
            if files.is_there(ACCEPT_FILE)
            else b""
        )
        before = accepted_in(there) if there else []
    except UnreadableAcceptances as unreadable:
        print_findings(unreadable.findings, "text")
        fail("nothing was written")
    except OSError as error:
        fail(f"{ACCEPT_FILE}: {error.strerror or error}; nothing was written")
    taken = {one.fingerprint for one in before}
    new = [one for one in dict.fromkeys(fingerprints) if one not in taken]
    # The column of an entry is that of its first key, behind `- `.
    indent = before[-1].place.column - 3 if before else 2
    entries = "".join(_entry(one, reason, until, " " * indent) for one in new)
    data = (there.rstrip() + b"\n" if there else _NEW) + entries.encode()
    try:
        after = accepted_in(data)
    except UnreadableAcceptances:
        after = []
    kept = [replace(one, source=NOWHERE) for one in after[: len(before)]]
    if len(after) != len(before) + len(new) or kept != [
        replace(one, source=NOWHERE) for one in before
    ]:
        fail(
            f"{ACCEPT_FILE} does not end with its list, so nothing was written;"
            f" add yourself:\n{entries}"
        )
    try:
        with Folder.at(root) as folder:
            folder.write(ACCEPT_FILE, data)
    except OSError as error:
        fail(f"{ACCEPT_FILE}: {error.strerror or error}; nothing was written")
    click.echo(f"{ACCEPT_FILE}: {counted(len(new), 'change')} accepted", err=True)


def _is_day(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _entry(fingerprint: str, reason: str, until: str | None, indent: str) -> str:
    rows = [f"- fingerprint: {compact(fingerprint)}", f"  reason: {scalar(reason)}"]
    if until is not None:
        rows.append(f"  until: {compact(until)}")
    return "".join(f"{indent}{row}\n" for row in rows)
