"""Sticky notes and their due times."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from whenever import Instant, ZonedDateTime

from .moments import Moment, from_millis, parse_local
from .recurrence import Recurrence, parse_recurrence

__all__ = ["Note", "from_row"]


@dataclass(frozen=True, slots=True)
class Note:
    """A stored note.

    Attributes:
        start: due time of the first occurrence, in the zone in which it was entered.
        occurrence: number of the current occurrence; the first is 0.
        snoozed_until: due time of the current occurrence if it was snoozed.
    """

    id: int
    text: str
    start: Moment
    periodicity: str | None
    occurrence: int
    snoozed_until: Instant | None
    resolved: bool

    def get_recurrence(self) -> Recurrence | None:
        """Return the note's recurrence, or None if it does not repeat."""
        if self.periodicity is None:
            return None
        return parse_recurrence(self.periodicity, self.start, "periodicity")

    def get_due(self) -> Moment:
        """Return the due time of the current occurrence, without a snooze."""
        recurrence = self.get_recurrence()
        current = recurrence and recurrence.get_occurrence(self.start, self.occurrence)
        return current or self.start

    def get_effective_due(self) -> Moment:
        """Return the due time of the current occurrence, including a snooze."""
        if self.snoozed_until is None:
            return self.get_due()
        return self.localize(self.snoozed_until)

    def find_next(self, now: Instant) -> int | None:
        """Return the number of the next occurrence after `now`, or None."""
        recurrence = self.get_recurrence()
        if recurrence is None:
            return None
        return recurrence.find_next(self.start, self.occurrence, now)

    def localize(self, moment: Instant) -> Moment:
        """Return the moment in the note's zone or at its offset."""
        if isinstance(self.start, ZonedDateTime):
            return moment.to_tz(self.start.tz_id or "UTC")
        return moment.to_fixed_offset(self.start.offset)

    def as_json(self, now: Instant) -> dict[str, Any]:
        """Return the note in the format of the spec's `returns`."""
        if self.resolved:
            status = "resolved"
        else:
            status = (
                "due" if self.get_effective_due().to_instant() <= now else "upcoming"
            )
        until = self.snoozed_until
        return {
            "id": str(self.id),
            "text": self.text,
            "status": status,
            "date": _format_moment(self.get_due()),
            "snoozed_until": (
                None if until is None else _format_moment(self.localize(until))
            ),
            "periodicity": self.periodicity,
        }


def from_row(row: sqlite3.Row) -> Note:
    """Build a note from a row of the table."""
    until = row["snoozed_until"]
    return Note(
        id=row["id"],
        text=row["text"],
        start=parse_local(row["start"], row["zone"]),
        periodicity=row["periodicity"],
        occurrence=row["occurrence"],
        snoozed_until=None if until is None else from_millis(until),
        resolved=row["resolved_at"] is not None,
    )


def _format_moment(moment: Moment) -> str:
    """Format the moment as ISO 8601 with its offset, in seconds."""
    if isinstance(moment, ZonedDateTime):
        return moment.format_iso(unit="second", tz_id_display="omit")
    return moment.format_iso(unit="second")
