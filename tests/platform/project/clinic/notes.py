"""Notes in patients' records."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import Engine, insert

from toolcast_runtime import current_call

from .patients import known_patient
from .tables import NOTES
from .visits import stored

__all__ = ["Note", "add_note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note and the time until its follow-up."""

    patient_id: UUID
    text: str
    follow_up: timedelta | None = None


def add_note(note: Note, *, db: Engine) -> str:
    again = None if note.follow_up is None else datetime.now(UTC) + note.follow_up
    with db.begin() as connection:
        patient = known_patient(connection, note.patient_id)
        connection.execute(
            insert(NOTES).values(
                patient_id=note.patient_id,
                text=note.text,
                look_again=None if again is None else stored(again),
                written_by=current_call().user,
            )
        )
    days = ""
    if note.follow_up is not None:
        days = f", to be looked at in {note.follow_up.days} days"
    return f"Noted for {patient}{days}."
