"""`write_session_log`: the headers of sessions, in the memory database."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import insert

from .arguments import clean_text, day, now, optional_text
from .memory_tables import session_headers
from .pools import memory_pool

__all__ = ["write_session_log"]


def write_session_log(
    *,
    summary: str,
    decisions: str | None = None,
    open_threads: str | None = None,
    commit_refs: str | None = None,
    tags: str | None = None,
    level: Literal["major", "minor"] = "minor",
    session_date: str | None = None,
) -> dict[str, Any]:
    """Adds a header.

    Raises:
        ToolError: the summary is blank, the day is none, or the database fails.
    """
    of_day = day(session_date, "session_date")
    values = {
        "session_date": of_day,
        "level": level,
        "summary": clean_text(summary, "summary"),
        "decisions": optional_text(decisions or "", "decisions"),
        "open_threads": optional_text(open_threads or "", "open_threads"),
        "commit_refs": optional_text(commit_refs or "", "commit_refs"),
        "tags": optional_text(tags or "", "tags"),
        "created_at": now(),
    }
    with memory_pool(write=True) as connection:
        number = connection.execute(
            insert(session_headers).values(values).returning(session_headers.c.id)
        ).scalar_one()
    return {"session_id": number, "session_date": of_day, "level": level}
