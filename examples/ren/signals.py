"""Handlers of signals and session summaries."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import insert, select

from .agent_loop import ask_ren
from .arguments import clean_text, parse_day
from .main_tables import session_summaries, signals
from .pools import main_pool
from .searching import count_matching_words

__all__ = ["search_signals", "write_session_summary", "write_signal"]

SignalType = Literal["relational", "directional", "ren", "texture"]
Subject = Literal["scott", "ted", "ren", "project", "framework"]


def write_signal(
    *,
    signal_type: SignalType,
    subject: Subject,
    content: str,
    session_date: str | None = None,
) -> dict[str, Any]:
    """Store a signal.

    Raises:
        ToolError: the text is blank, the date is invalid, or the database fails.
    """
    session_day = parse_day(session_date, "session_date")
    values = {
        "signal_type": signal_type,
        "subject": subject,
        "content": clean_text(content, "content"),
        "session_date": session_day,
    }
    with main_pool(write=True) as connection:
        number = connection.execute(
            insert(signals).values(values).returning(signals.c.id)
        ).scalar_one()
    return {"signal_id": number, "session_date": session_day}


def search_signals(
    *,
    query: str,
    signal_type: SignalType | None = None,
    subject: Subject | None = None,
    limit: int = 20,
) -> dict[str, Any]:
    """Return the signals that contain the most words, with an interpretation by Ren.

    Raises:
        ToolError: the query is blank, or Letta or the database fails.
    """
    matched = count_matching_words(signals.c.content, query)
    statement = select(signals).where(matched > 0)
    if signal_type is not None:
        statement = statement.where(signals.c.signal_type == signal_type)
    if subject is not None:
        statement = statement.where(signals.c.subject == subject)
    ordered = statement.order_by(
        matched.desc(), signals.c.session_date.desc(), signals.c.id.desc()
    )
    with main_pool() as connection:
        rows = connection.execute(ordered.limit(int(limit))).all()
    reading = ""
    if rows:
        signal_lines = "\n".join(f"- {row.session_date}: {row.content}" for row in rows)
        reading = ask_ren(
            f"Signals that match the query: {query}\n{signal_lines}\n"
            "How do you interpret them? Answer in a few sentences."
        ).text
    return {
        "signals": [
            {
                "signal_id": row.id,
                "signal_type": row.signal_type,
                "subject": row.subject,
                "content": row.content,
                "session_date": row.session_date,
            }
            for row in rows
        ],
        "reading": reading,
    }


def write_session_summary(
    *, summary: str, session_date: str | None = None
) -> dict[str, Any]:
    """Store a session summary.

    Raises:
        ToolError: the text is blank, the date is invalid, or the database fails.
    """
    session_day = parse_day(session_date, "session_date")
    text = clean_text(summary, "summary")
    with main_pool(write=True) as connection:
        number = connection.execute(
            insert(session_summaries)
            .values(summary=text, session_date=session_day)
            .returning(session_summaries.c.id)
        ).scalar_one()
    return {"summary_id": number, "session_date": session_day}
