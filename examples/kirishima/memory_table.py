"""Read and write rows of the table `memories`."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from whenever import Instant

from .moments import format_utc, to_millis

__all__ = ["Memory", "from_row", "insert", "load", "remove", "update"]


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored memory."""

    id: int
    text: str
    keywords: list[str]
    category: str | None
    topic_id: str | None
    created_at: int
    updated_at: int

    def as_json(self) -> dict[str, Any]:
        """Return the memory in the format of the spec's `returns`."""
        return {
            "memory_id": str(self.id),
            "memory": self.text,
            "keywords": self.keywords,
            "category": self.category,
            "topic_id": self.topic_id,
            "created_at": format_utc(self.created_at),
            "updated_at": format_utc(self.updated_at),
        }


def from_row(row: sqlite3.Row) -> Memory:
    """Build a memory from a row of the table."""
    return Memory(
        id=row["id"],
        text=row["text"],
        keywords=row["keywords"].split("\n") if row["keywords"] else [],
        category=row["category"],
        topic_id=row["topic_id"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def load(connection: sqlite3.Connection, memory_id: int) -> Memory | None:
    """Return the memory with this id, or None."""
    row = connection.execute(
        "SELECT * FROM memories WHERE id = ?", [memory_id]
    ).fetchone()
    return None if row is None else from_row(row)


def insert(
    connection: sqlite3.Connection,
    text: str,
    keywords: list[str],
    category: str | None,
    topic_id: str | None,
) -> Memory:
    """Insert a memory."""
    now = to_millis(Instant.now())
    row = connection.execute(
        "INSERT INTO memories (text, keywords, category, topic_id, created_at, "
        "updated_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING *",
        [text, "\n".join(keywords), category, topic_id, now, now],
    ).fetchone()
    return from_row(row)


def update(
    connection: sqlite3.Connection,
    old: Memory,
    *,
    text: str,
    keywords: list[str],
    category: str | None,
    topic_id: str | None,
) -> Memory:
    """Replace a memory's values, except for its creation time."""
    row = connection.execute(
        "UPDATE memories SET text = ?, keywords = ?, category = ?, topic_id = ?, "
        "updated_at = ? WHERE id = ? RETURNING *",
        [
            text,
            "\n".join(keywords),
            category,
            topic_id,
            to_millis(Instant.now()),
            old.id,
        ],
    ).fetchone()
    return from_row(row)


def remove(connection: sqlite3.Connection, memory: Memory) -> None:
    """Delete a memory; its id is not used again."""
    connection.execute("DELETE FROM memories WHERE id = ?", [memory.id])
