"""Implementation of the four tools, shared by both servers."""

from __future__ import annotations

import sqlite3
from datetime import date, datetime, timedelta


def open_database() -> sqlite3.Connection:
    """Open a database with one visit."""
    db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    db.execute(
        "CREATE TABLE visits (id INTEGER PRIMARY KEY, start TEXT, cents INTEGER)"
    )
    db.execute("INSERT INTO visits VALUES (1, '2026-11-23T09:00:00+00:00', 8000)")
    return db


def list_visits(
    db: sqlite3.Connection, day: date | None, limit: int
) -> list[dict[str, object]]:
    like = f"{day.isoformat() if day else ''}%"
    rows = db.execute(
        "SELECT id, start FROM visits WHERE start LIKE ? LIMIT ?", (like, limit)
    )
    return [
        {"visit_id": number, "start": datetime.fromisoformat(start)}
        for number, start in rows
    ]


def insert_visit(db: sqlite3.Connection, start: datetime) -> int:
    row = db.execute(
        "INSERT INTO visits (start, cents) VALUES (?, 0) RETURNING id",
        (start.isoformat(),),
    )
    return int(row.fetchone()[0])


def refund(db: sqlite3.Connection, visit_id: int, cents: int) -> bool:
    row = "UPDATE visits SET cents = cents - ? WHERE id = ? AND cents >= ?"
    return db.execute(row, (cents, visit_id, cents)).rowcount == 1


def list_day(db: sqlite3.Connection, first: date, number: int) -> list[str]:
    rows = list_visits(db, first + timedelta(number), 100)
    return [f"{row['visit_id']},{row['start']}" for row in rows]
