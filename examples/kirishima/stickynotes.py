"""Handler of stickynotes: one-time and repeating reminders."""

from __future__ import annotations

import sqlite3
from typing import Any, Literal

from whenever import Instant

from toolcast_runtime import ToolError

from .arguments import clean_text, parse_row_id, require
from .moments import (
    Moment,
    add_duration,
    get_time_zone,
    get_zone,
    parse_duration,
    parse_moment,
    to_millis,
)
from .notes import Note, from_row
from .recurrence import parse_recurrence
from .store import open_database

__all__ = ["stickynotes"]

Action = Literal["create", "list", "snooze", "resolve"]


def stickynotes(
    *,
    action: Action,
    text: str | None = None,
    date: str | None = None,
    periodicity: str | None = None,
    id: str | None = None,
    snooze: str | None = None,
) -> dict[str, Any]:
    """Create, list, snooze or resolve notes; return the affected notes.

    Raises:
        ToolError: a date, duration or recurrence is not ISO 8601, the text is blank, or
            there is no open note with this id.
    """
    now = Instant.now().to_tz(get_time_zone())
    moment = now.to_instant()
    if action == "list":
        with open_database() as connection:
            notes = _list_open_notes(connection)
        notes.sort(key=lambda note: (note.get_effective_due().to_instant(), note.id))
    elif action == "create":
        body = clean_text(require(text, "text"), "text")
        start = parse_moment(require(date, "date"), "date")
        if periodicity is not None:
            parse_recurrence(periodicity, start, "periodicity")
        with open_database(write=True) as connection:
            notes = [_create(connection, body, start, periodicity, moment)]
    else:
        note_id = require(id, "id")
        with open_database(write=True) as connection:
            note = _get_open_note(connection, note_id)
            if action == "snooze":
                length = require(snooze, "snooze")
                notes = [_snooze(connection, note, length, moment)]
            else:
                notes = [_resolve(connection, note, moment)]
    return {
        "action": action,
        "now": now.format_iso(unit="second", tz_id_display="omit"),
        "notes": [note.as_json(moment) for note in notes],
    }


def _list_open_notes(connection: sqlite3.Connection) -> list[Note]:
    rows = connection.execute("SELECT * FROM notes WHERE resolved_at IS NULL")
    return [from_row(row) for row in rows]


def _get_open_note(connection: sqlite3.Connection, note_id: str) -> Note:
    row = connection.execute(
        "SELECT * FROM notes WHERE id = ?", [parse_row_id(note_id, "id")]
    ).fetchone()
    if row is None:
        raise ToolError(f"There is no note with the id {note_id}.")
    if row["resolved_at"] is not None:
        raise ToolError(f"Note {note_id} is already resolved.")
    return from_row(row)


def _create(
    connection: sqlite3.Connection,
    text: str,
    start: Moment,
    periodicity: str | None,
    now: Instant,
) -> Note:
    row = connection.execute(
        "INSERT INTO notes (text, start, zone, periodicity, occurrence, created_at) "
        "VALUES (?, ?, ?, ?, 0, ?) RETURNING *",
        [
            text,
            start.to_plain().format_iso(),
            get_zone(start),
            periodicity,
            to_millis(now),
        ],
    ).fetchone()
    return from_row(row)


def _snooze(
    connection: sqlite3.Connection, note: Note, length: str, now: Instant
) -> Note:
    """Postpone the current occurrence; later occurrences are unchanged."""
    duration = parse_duration(length, "snooze")
    base = note.localize(max(now, note.get_effective_due().to_instant()))
    try:
        until = add_duration(base, duration)
    except ValueError as error:
        raise ToolError("`snooze` leads beyond the year 9999.") from error
    row = connection.execute(
        "UPDATE notes SET snoozed_until = ? WHERE id = ? RETURNING *",
        [to_millis(until), note.id],
    ).fetchone()
    return from_row(row)


def _resolve(connection: sqlite3.Connection, note: Note, now: Instant) -> Note:
    """Move a repeating note to its next future occurrence, or resolve the note.

    Missed occurrences are skipped.
    """
    next_occurrence = note.find_next(now)
    row = connection.execute(
        "UPDATE notes SET occurrence = ?, snoozed_until = NULL, resolved_at = ? "
        "WHERE id = ? RETURNING *",
        [
            note.occurrence if next_occurrence is None else next_occurrence,
            to_millis(now) if next_occurrence is None else None,
            note.id,
        ],
    ).fetchone()
    return from_row(row)
