"""Finding memories: full text, filters, paging."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from .memory_table import Memory, from_row

__all__ = ["Filters", "find"]


@dataclass(frozen=True, slots=True)
class Filters:
    """What a memory must be like to be found; None and no keywords ask for nothing.

    Attributes:
        keywords: words or phrases looked for in text and keywords.
        min_keywords: how many of them must match; all of them when they are fewer.
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
    """One page of the memories that match, and how many match in all.

    With keywords the best match comes first: most keywords, then BM25. Without, the
    newest comes first.
    """
    source, values = _source(filters)
    counted = connection.execute(f"SELECT count(*) {source}", values).fetchone()
    total = int(counted[0])
    order = "matched DESC, score, id DESC" if filters.keywords else "id DESC"
    rows = connection.execute(
        f"SELECT * {source} ORDER BY {order} LIMIT ? OFFSET ?",
        [*values, limit, min(offset, total)],
    )
    return [from_row(row) for row in rows], total


def _source(filters: Filters) -> tuple[str, list[str | int]]:
    """The FROM and WHERE clauses, made of constants only, and the values they bind."""
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
        values += [_phrase(keyword) for keyword in filters.keywords]
        values.append(min(filters.min_keywords, len(filters.keywords)))
    conditions = {
        "category = ?": filters.category,
        "topic_id = ?": filters.topic_id,
        "created_at >= ?": filters.created_after,
        "created_at < ?": filters.created_before,
    }
    asked = {text: value for text, value in conditions.items() if value is not None}
    if asked:
        source += f" WHERE {' AND '.join(asked)}"
        values += asked.values()
    return source, values


def _phrase(keyword: str) -> str:
    """The keyword as a quoted FTS5 string, in which nothing is an operator."""
    return '"' + keyword.replace('"', '""') + '"'
