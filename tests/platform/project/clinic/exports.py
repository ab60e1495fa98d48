"""Exports of many visits, which run for a while."""

from __future__ import annotations

import os
import time
from datetime import date, timedelta

from sqlalchemy import Engine, select

from toolcast_runtime import ToolError, ToolResponse, current_call, link, text

from .app import tell
from .tables import VISITS

__all__ = ["export_visits"]


def export_visits(*, first: date, last: date, db: Engine) -> ToolResponse:
    call = current_call()
    tell("export begun")
    days = [first + timedelta(n) for n in range((last - first).days + 1)]
    lines = ["visit,start,minutes,status"]
    for done, day in enumerate(days, 1):
        if call.cancelled:
            tell(f"export stopped after {len(lines) - 1} visits")
            raise ToolError("The export was stopped.")
        rows = (
            select(VISITS)
            .where(VISITS.c.start.startswith(day.isoformat()))
            .order_by(VISITS.c.start)
        )
        with db.connect() as connection:
            lines += [
                f"{row.id},{row.start},{row.minutes},{row.status}"
                for row in connection.execute(rows)
            ]
        # The time that the export of a day takes in a real clinic.
        time.sleep(float(os.environ.get("CLINIC_PACE", "0")))
        call.progress(done, len(days), day.isoformat())
    table = "\n".join(lines) + "\n"
    message = text(f"{len(lines) - 1} visits of {len(days)} days.")
    name = f"visits-{first}-{last}.csv"
    return ToolResponse(content=[message, link(name, content=table)])
