"""Handlers for the start of a session and for the state of the memory tables."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import Row, Table, func, insert, select

from .agent_loop import ask_ren
from .arguments import clean_text, now
from .main_tables import pending_thoughts
from .memory_tables import (
    agent_identity,
    builds,
    conversations,
    lessons,
    session_headers,
    touchstones,
)
from .pools import main_pool, memory_pool

__all__ = [
    "check_memory_health",
    "get_session_brief",
    "read_pending_thoughts",
    "write_pending_thoughts",
]

MAX_SESSIONS = 5
STALE_AFTER = timedelta(days=14)

_CHECKED_TABLES: tuple[Table, ...] = (
    session_headers,
    lessons,
    touchstones,
    builds,
    conversations,
    agent_identity,
)


def get_session_brief() -> dict[str, Any]:
    """Return the latest sessions, with a comment by Ren.

    Raises:
        ToolError: Letta or the database fails.
    """
    headers = session_headers
    with memory_pool() as connection:
        rows = connection.execute(
            select(headers)
            .order_by(headers.c.session_date.desc(), headers.c.id.desc())
            .limit(MAX_SESSIONS)
        ).all()
    threads = "\n".join(f"- {row.open_threads}" for row in rows if row.open_threads)
    answer = ask_ren(
        "A session begins. These threads are open:\n"
        f"{threads or '- none'}\n"
        "What else is important for the session? Answer in a few sentences."
    )
    return {
        "sessions": [_format_session(row) for row in rows],
        "word_from_ren": answer.text,
    }


def _format_session(row: Row[Any]) -> dict[str, Any]:
    return {
        "session_id": row.id,
        "session_date": row.session_date,
        "level": row.level,
        "summary": row.summary,
        "open_threads": row.open_threads,
    }


def write_pending_thoughts(*, thoughts: str) -> dict[str, Any]:
    """Store thoughts for the next session.

    Raises:
        ToolError: the text is blank, or the database fails.
    """
    text = clean_text(thoughts, "thoughts")
    moment = now()
    with main_pool(write=True) as connection:
        number = connection.execute(
            insert(pending_thoughts)
            .values(thoughts=text, created_at=moment)
            .returning(pending_thoughts.c.id)
        ).scalar_one()
    return {"thought_id": number, "created_at": moment}


def read_pending_thoughts(*, limit: int = 10) -> dict[str, Any]:
    """Return stored thoughts, newest first.

    Raises:
        ToolError: the database fails.
    """
    with main_pool() as connection:
        rows = connection.execute(
            select(pending_thoughts)
            .order_by(pending_thoughts.c.id.desc())
            .limit(int(limit))
        ).all()
    return {
        "thoughts": [
            {
                "thought_id": row.id,
                "thoughts": row.thoughts,
                "created_at": row.created_at,
            }
            for row in rows
        ]
    }


def check_memory_health() -> dict[str, Any]:
    """Return the row count and newest row of each memory table, and problems.

    Raises:
        ToolError: the database fails.
    """
    tables = []
    problems = []
    with memory_pool() as connection:
        for table in _CHECKED_TABLES:
            rows, newest = connection.execute(
                select(func.count(), func.max(table.c.created_at)).select_from(table)
            ).one()
            tables.append({"table": str(table.name), "rows": rows, "newest": newest})
            if rows == 0:
                problems.append(f"`{table.name}` has no rows.")
        last = connection.execute(
            select(func.max(session_headers.c.session_date))
        ).scalar_one()
    if last is not None and last < now(later=-STALE_AFTER)[:10]:
        problems.append(f"The newest session header is from {last}.")
    return {"is_healthy": not problems, "tables": tables, "problems": problems}
