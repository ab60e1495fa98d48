"""The `stickynotes` tool: reminders, once or repeating."""

from __future__ import annotations

import sqlite3
from typing import Any, Literal

from whenever import Instant

from toolcast_runtime import ToolError

from .arguments import clean_text, needed, row_id
from .moments import (
    Moment,
    millis,
    own_zone,
    parse_duration,
    parse_moment,
    shift,
    zone_of,
)
from .notes import Note, from_row
from .recurrence import parse_recurrence
from .store import database

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
    """Create, list, snooze or resolve notes; answers with the notes concerned.

    Raises:
        ToolError: a date, duration or recurrence is not ISO 8601, the text is blank, or
            there is no such open note.
    """
    now = Instant.now().to_tz(own_zone())
    moment = now.to_instant()
    if action == "list":
        with database() as connection:
            notes = _open_notes(connection)
        notes.sort(key=lambda note: (note.effective().to_instant(), note.id))
    elif action == "create":
        body = clean_text(needed(text, "text"), "text")
        start = parse_moment(needed(date, "date"), "date")
        if periodicity is not None:
            parse_recurrence(periodicity, start, "periodicity")
        with database(write=True) as connection:
            notes = [_create(connection, body, start, periodicity, moment)]
    else:
        wanted = needed(id, "id")
        with database(write=True) as connection:
            note = _open_note(connection, wanted)
            if action == "snooze":
                length = needed(snooze, "snooze")
                notes = [_snooze(connection, note, length, moment)]
            else:
                notes = [_resolve(connection, note, moment)]
    return {
        "action": action,
        "now": now.format_iso(unit="second", tz_id_display="omit"),
        "notes": [note.as_json(moment) for note in notes],
    }


def _open_notes(connection: sqlite3.Connection) -> list[Note]:
    rows = connection.execute("SELECT * FROM notes WHERE resolved_at IS NULL")
    return [from_row(row) for row in rows]


def _open_note(connection: sqlite3.Connection, wanted: str) -> Note:
    row = connection.execute(
        "SELECT * FROM notes WHERE id = ?", [row_id(wanted, "id")]
    ).fetchone()
    if row is None:
        raise ToolError(f"There is no note with the id {wanted}.")
    if row["resolved_at"] is not None:
        raise ToolError(f"Note {wanted} is resolved already.")
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
            zone_of(start),
            periodicity,
            millis(now),
        ],
    ).fetchone()
    return from_row(row)


def _snooze(
    connection: sqlite3.Connection, note: Note, length: str, now: Instant
) -> Note:
    """Put the current occurrence off; the ones after it stay where they are."""
    duration = parse_duration(length, "snooze")
    base = note.localize(max(now, note.effective().to_instant()))
    try:
        until = shift(base, duration)
    except ValueError as error:
        raise ToolError("`snooze` leads beyond the year 9999.") from error
    row = connection.execute(
        "UPDATE notes SET snoozed_until = ? WHERE id = ? RETURNING *",
        [millis(until), note.id],
    ).fetchone()
    return from_row(row)


def _resolve(connection: sqlite3.Connection, note: Note, now: Instant) -> Note:
    """Move a repeating note to its next occurrence to come, or end the note.

    Occurrences that were missed are passed over.
    """
    following = note.following(now)
    row = connection.execute(
        "UPDATE notes SET occurrence = ?, snoozed_until = NULL, resolved_at = ? "
        "WHERE id = ? RETURNING *",
        [
            note.occurrence if following is None else following,
            millis(now) if following is None else None,
            note.id,
        ],
    ).fetchone()
    return from_row(row)
