"""The clinic's calendar."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from sqlalchemy import Engine, insert, select, update

from toolcast_runtime import ToolError, current_call

from .patients import known_patient
from .tables import PATIENTS, VISITS

__all__ = ["book_visit", "cancel_visit", "move_visit", "search_visits", "stored"]


def stored(moment: datetime) -> str:
    """Return a time in the database's form."""
    return moment.astimezone(UTC).isoformat()


def book_visit(
    *, patient_id: UUID, start: datetime, minutes: int = 15, db: Engine
) -> dict[str, object]:
    with db.begin() as connection:
        known_patient(connection, patient_id)
        row = insert(VISITS).values(
            patient_id=patient_id,
            start=stored(start),
            minutes=minutes,
            status="booked",
            booked_by=current_call().user,
        )
        number = connection.scalar(row.returning(VISITS.c.id))
    ends = start + timedelta(minutes=minutes)
    return {"visit_id": number, "start": start, "ends": ends}


def move_visit(*, visit_id: int, start: datetime, db: Engine) -> str:
    _change(db, visit_id, start=stored(start))
    return f"Visit {visit_id} begins at {start.isoformat()}."


def cancel_visit(*, visit_id: int, notify: bool, db: Engine) -> str:
    _change(db, visit_id, status="cancelled")
    return f"Visit {visit_id} is cancelled{', the patient is told' * notify}."


def search_visits(
    *,
    patient_id: UUID | None = None,
    day: date | None = None,
    limit: int = 20,
    db: Engine,
) -> list[dict[str, object]]:
    rows = (
        select(VISITS.c.id, PATIENTS.c.name, VISITS.c.start, VISITS.c.status)
        .join(PATIENTS)
        .order_by(VISITS.c.start, VISITS.c.id)
        .limit(limit)
    )
    if patient_id is not None:
        rows = rows.where(VISITS.c.patient_id == patient_id)
    if day is not None:
        rows = rows.where(VISITS.c.start.startswith(day.isoformat()))
    with db.connect() as connection:
        return [
            {
                "visit_id": row.id,
                "patient": row.name,
                "start": datetime.fromisoformat(row.start),
                "status": row.status,
            }
            for row in connection.execute(rows)
        ]


def _change(db: Engine, visit_id: int, **values: str) -> None:
    row = update(VISITS).where(VISITS.c.id == visit_id, VISITS.c.status == "booked")
    with db.begin() as connection:
        if connection.execute(row.values(**values)).rowcount == 0:
            raise ToolError(f"There is no booked visit {visit_id}.")
