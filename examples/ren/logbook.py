"""Handler of write_session_log: session headers in the memory database."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import insert

from .arguments import clean_optional_text, clean_text, now, parse_day
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
    """Insert a session header.

    Raises:
        ToolError: the summary is blank, the date is invalid, or the database fails.
    """
    session_day = parse_day(session_date, "session_date")
    values = {
        "session_date": session_day,
        "level": level,
        "summary": clean_text(summary, "summary"),
        "decisions": clean_optional_text(decisions or "", "decisions"),
        "open_threads": clean_optional_text(open_threads or "", "open_threads"),
        "commit_refs": clean_optional_text(commit_refs or "", "commit_refs"),
        "tags": clean_optional_text(tags or "", "tags"),
        "created_at": now(),
    }
    with memory_pool(write=True) as connection:
        number = connection.execute(
            insert(session_headers).values(values).returning(session_headers.c.id)
        ).scalar_one()
    return {"session_id": number, "session_date": session_day, "level": level}
