"""Notes in patients' records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import Engine, insert

from .patients import known_patient
from .tables import NOTES
from .visits import stored

__all__ = ["add_note"]


def add_note(
    *, patient_id: UUID, text: str, follow_up: timedelta | None = None, db: Engine
) -> str:
    again = None if follow_up is None else datetime.now(UTC) + follow_up
    with db.begin() as connection:
        patient = known_patient(connection, patient_id)
        connection.execute(
            insert(NOTES).values(
                patient_id=patient_id,
                text=text,
                look_again=None if again is None else stored(again),
            )
        )
    days = "" if follow_up is None else f", to be looked at in {follow_up.days} days"
    return f"Noted for {patient}{days}."
