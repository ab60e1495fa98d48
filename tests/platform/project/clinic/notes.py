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
    *, patient_id: str, text: str, follow_up: str | None = None, db: Engine
) -> str:
    again = (
        None
        if follow_up is None
        else datetime.now(UTC) + timedelta(days=int(follow_up[1:-1]))
    )
    with db.begin() as connection:
        patient = known_patient(connection, UUID(patient_id))
        connection.execute(
            insert(NOTES).values(
                patient_id=UUID(patient_id),
                text=text,
                look_again=None if again is None else stored(again),
            )
        )
    days = "" if follow_up is None else f", to be looked at in {follow_up}"
    return f"Noted for {patient}{days}."
