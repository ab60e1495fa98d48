"""Search for memories: full text, filters and pages."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from .memory_table import Memory, from_row

__all__ = ["Filters", "find"]


@dataclass(frozen=True, slots=True)
class Filters:
    """Search conditions; None and an empty list match every memory.

    Attributes:
        keywords: words or phrases in the text or keywords of a memory.
        min_keywords: the number of keywords that must match, at most all of them.
        created_after: milliseconds, inclusive.
        created_before: milliseconds, exclusive.
    """

    keywords: list[str]
    min_keywords: int
    category: str | None
    topic_id: str | None
    created_after: int | None
    created_before: int | None


def find(
    connection: sqlite3.Connection, filters: Filters, *, limit: int, offset: int
) -> tuple[list[Memory], int]:
    """Return a page of the matching memories, and the number of all matches.

    With keywords, memories are sorted by the number of matching keywords, then by BM25
    score; otherwise newest first.
    """
    source, values = _build_source(filters)
    counted = connection.execute(f"SELECT count(*) {source}", values).fetchone()
    total = int(counted[0])
    order = "matched DESC, score, id DESC" if filters.keywords else "id DESC"
    rows = connection.execute(
        f"SELECT * {source} ORDER BY {order} LIMIT ? OFFSET ?",
        [*values, limit, min(offset, total)],
    )
    return [from_row(row) for row in rows], total


def _build_source(filters: Filters) -> tuple[str, list[str | int]]:
    """Return the FROM and WHERE clauses, without user input, and their parameters."""
    source = "FROM memories"
    values: list[str | int] = []
    if filters.keywords:
        hits = " UNION ALL ".join(
            "SELECT rowid AS hit, rank FROM memories_fts WHERE memories_fts MATCH ?"
            for _ in filters.keywords
        )
        source += (
            " JOIN (SELECT hit, count(*) AS matched, sum(rank) AS score "
            f"FROM ({hits}) GROUP BY hit HAVING count(*) >= ?) ON hit = id"
        )
        values += [_quote_phrase(keyword) for keyword in filters.keywords]
        values.append(min(filters.min_keywords, len(filters.keywords)))
    conditions = {
        "category = ?": filters.category,
        "topic_id = ?": filters.topic_id,
        "created_at >= ?": filters.created_after,
        "created_at < ?": filters.created_before,
    }
    active = {text: value for text, value in conditions.items() if value is not None}
    if active:
        source += f" WHERE {' AND '.join(active)}"
        values += active.values()
    return source, values


def _quote_phrase(keyword: str) -> str:
    """Return the keyword as an FTS5 string, in which no character is an operator."""
    return '"' + keyword.replace('"', '""') + '"'
