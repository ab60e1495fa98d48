"""Memories as rows: reading and writing one."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from whenever import Instant

from .moments import millis, utc_text

__all__ = ["Memory", "from_row", "insert", "load", "remove", "rewrite"]


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory as it is stored."""

    id: int
    text: str
    keywords: list[str]
    category: str | None
    topic_id: str | None
    created_at: int
    updated_at: int

    def as_json(self) -> dict[str, Any]:
        """The memory in the shape that the tool's `returns` promises."""
        return {
            "memory_id": str(self.id),
            "memory": self.text,
            "keywords": self.keywords,
            "category": self.category,
            "topic_id": self.topic_id,
            "created_at": utc_text(self.created_at),
            "updated_at": utc_text(self.updated_at),
        }


def from_row(row: sqlite3.Row) -> Memory:
    """The memory that a row of the table holds."""
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
    """The memory of that id, if there is one."""
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
    """Store a new memory."""
    now = millis(Instant.now())
    row = connection.execute(
        "INSERT INTO memories (text, keywords, category, topic_id, created_at, "
        "updated_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING *",
        [text, "\n".join(keywords), category, topic_id, now, now],
    ).fetchone()
    return from_row(row)


def rewrite(
    connection: sqlite3.Connection,
    old: Memory,
    *,
    text: str,
    keywords: list[str],
    category: str | None,
    topic_id: str | None,
) -> Memory:
    """Store a memory's new values; when it was created stays."""
    row = connection.execute(
        "UPDATE memories SET text = ?, keywords = ?, category = ?, topic_id = ?, "
        "updated_at = ? WHERE id = ? RETURNING *",
        [
            text,
            "\n".join(keywords),
            category,
            topic_id,
            millis(Instant.now()),
            old.id,
        ],
    ).fetchone()
    return from_row(row)


def remove(connection: sqlite3.Connection, memory: Memory) -> None:
    """Delete a memory; its id is never given again."""
    connection.execute("DELETE FROM memories WHERE id = ?", [memory.id])
