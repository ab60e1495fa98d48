"""Toolcast handlers of the four tools."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from sqlite3 import Connection

from work import insert_visit, list_day, list_visits, open_database, refund

from toolcast_runtime import ToolError, current_call


@contextmanager
def lifespan() -> Iterator[dict[str, object]]:
    db = open_database()
    try:
        yield {"db": db}
    finally:
        db.close()


def search_visits(
    *, day: date | None = None, limit: int = 20, db: Connection
) -> list[dict[str, object]]:
    return list_visits(db, day, limit)


def book_visit(*, start: datetime, db: Connection) -> dict[str, object]:
    return {"visit_id": insert_visit(db, start), "start": start}


def refund_visit(*, visit_id: int, cents: int, db: Connection) -> str:
    if not refund(db, visit_id, cents):
        raise ToolError(f"Visit {visit_id} did not cost that much.")
    return f"{cents} cents are paid back."


def export_visits(*, first: date, days: int, db: Connection) -> str:
    call = current_call()
    lines = ["visit,start"]
    for number in range(days):
        if call.cancelled:
            raise ToolError("The export was stopped.")
        lines += list_day(db, first, number)
        call.progress(number + 1, days)
    return "\n".join(lines)
