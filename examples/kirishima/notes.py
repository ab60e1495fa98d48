"""A sticky note as it is stored, and when it is due."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from whenever import Instant, ZonedDateTime

from .moments import Moment, from_millis, local
from .recurrence import Recurrence, parse_recurrence

__all__ = ["Note", "from_row"]


@dataclass(frozen=True, slots=True)
class Note:
    """One note.

    Attributes:
        start: the due time of the first occurrence, in the zone it was written in.
        occurrence: the number of the current occurrence, 0 being the first.
        snoozed_until: when the current occurrence is due instead.
    """

    id: int
    text: str
    start: Moment
    periodicity: str | None
    occurrence: int
    snoozed_until: Instant | None
    resolved: bool

    def recurrence(self) -> Recurrence | None:
        """How the note repeats, if it does."""
        if self.periodicity is None:
            return None
        return parse_recurrence(self.periodicity, self.start, "periodicity")

    def due(self) -> Moment:
        """When the current occurrence is due by its own date."""
        recurrence = self.recurrence()
        current = recurrence and recurrence.occurrence(self.start, self.occurrence)
        return current or self.start

    def effective(self) -> Moment:
        """When the current occurrence is due, a snooze considered."""
        if self.snoozed_until is None:
            return self.due()
        return self.localize(self.snoozed_until)

    def following(self, now: Instant) -> int | None:
        """The number of the next occurrence that is still to come, if there is one."""
        recurrence = self.recurrence()
        if recurrence is None:
            return None
        return recurrence.following(self.start, self.occurrence, now)

    def localize(self, moment: Instant) -> Moment:
        """The moment in the zone, or at the offset, of the note."""
        if isinstance(self.start, ZonedDateTime):
            return moment.to_tz(self.start.tz_id or "UTC")
        return moment.to_fixed_offset(self.start.offset)

    def as_json(self, now: Instant) -> dict[str, Any]:
        """The note in the shape that the tool's `returns` promises."""
        if self.resolved:
            status = "resolved"
        else:
            status = "due" if self.effective().to_instant() <= now else "upcoming"
        until = self.snoozed_until
        return {
            "id": str(self.id),
            "text": self.text,
            "status": status,
            "date": _text(self.due()),
            "snoozed_until": None if until is None else _text(self.localize(until)),
            "periodicity": self.periodicity,
        }


def from_row(row: sqlite3.Row) -> Note:
    """The note that a row of the table holds."""
    until = row["snoozed_until"]
    return Note(
        id=row["id"],
        text=row["text"],
        start=local(row["start"], row["zone"]),
        periodicity=row["periodicity"],
        occurrence=row["occurrence"],
        snoozed_until=None if until is None else from_millis(until),
        resolved=row["resolved_at"] is not None,
    )


def _text(moment: Moment) -> str:
    """The moment as ISO 8601 with its offset, to the second."""
    if isinstance(moment, ZonedDateTime):
        return moment.format_iso(unit="second", tz_id_display="omit")
    return moment.format_iso(unit="second")
