"""Tools that use the authenticated caller."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import Engine, select

from toolcast_runtime import ToolError, current_call

from .tables import VISITS

__all__ = ["my_visits", "whoami"]


async def whoami() -> dict[str, object]:
    call = current_call()
    return {
        "user": call.user,
        "name": call.claims.get("name"),
        "ward": call.headers.get("x-ward"),
    }


def my_visits(*, db: Engine) -> list[dict[str, object]]:
    # The patient comes from the login and not from an argument, which could name another.
    patient = current_call().claims.get("patient")
    if not isinstance(patient, str):
        raise ToolError("Your login names no patient.")
    rows = (
        select(VISITS.c.id, VISITS.c.start, VISITS.c.status)
        .where(VISITS.c.patient_id == UUID(patient))
        .order_by(VISITS.c.start, VISITS.c.id)
    )
    with db.connect() as connection:
        return [
            {
                "visit_id": row.id,
                "start": datetime.fromisoformat(row.start),
                "status": row.status,
            }
            for row in connection.execute(rows)
        ]
