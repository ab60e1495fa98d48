"""Handler of search_code."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from .main_tables import code_chunks
from .pools import main_pool
from .searching import count_matching_words

__all__ = ["search_code"]


def search_code(*, query: str, limit: int = 5) -> dict[str, Any]:
    """Return the code chunks that contain the most words of the query.

    Raises:
        ToolError: the query is blank, or the database fails.
    """
    chunks = code_chunks
    matched = count_matching_words(chunks.c.content, query).label("matched")
    with main_pool() as connection:
        rows = connection.execute(
            select(chunks, matched)
            .where(matched > 0)
            .order_by(matched.desc(), chunks.c.file, chunks.c.start_line)
            .limit(int(limit))
        ).all()
    return {
        "chunks": [
            {
                "file": row.file,
                "start_line": row.start_line,
                "end_line": row.end_line,
                "content": row.content,
                "matched": row.matched,
            }
            for row in rows
        ]
    }
