"""Signals, and the summaries of sessions' signals."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import insert, select

from .agent_loop import ask_ren
from .arguments import clean_text, day
from .main_tables import session_summaries, signals
from .pools import main_pool
from .searching import count_of_words

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
    """Keeps a signal.

    Raises:
        ToolError: the text is blank, the day is none, or the database fails.
    """
    of_day = day(session_date, "session_date")
    values = {
        "signal_type": signal_type,
        "subject": subject,
        "content": clean_text(content, "content"),
        "session_date": of_day,
    }
    with main_pool(write=True) as connection:
        number = connection.execute(
            insert(signals).values(values).returning(signals.c.id)
        ).scalar_one()
    return {"signal_id": number, "session_date": of_day}


def search_signals(
    *,
    query: str,
    signal_type: SignalType | None = None,
    subject: Subject | None = None,
    limit: int = 20,
) -> dict[str, Any]:
    """The signals that have most of the words, and Ren's reading of them.

    Raises:
        ToolError: the query is blank, or Letta or the database fails.
    """
    matched = count_of_words(signals.c.content, query)
    wanted = select(signals).where(matched > 0)
    if signal_type is not None:
        wanted = wanted.where(signals.c.signal_type == signal_type)
    if subject is not None:
        wanted = wanted.where(signals.c.subject == subject)
    ordered = wanted.order_by(
        matched.desc(), signals.c.session_date.desc(), signals.c.id.desc()
    )
    with main_pool() as connection:
        rows = connection.execute(ordered.limit(int(limit))).all()
    reading = ""
    if rows:
        listed = "\n".join(f"- {row.session_date}: {row.content}" for row in rows)
        reading = ask_ren(
            f"Somebody looks for signals about: {query}\nThese were found:\n{listed}\n"
            "What do they add up to? A few sentences are enough."
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
    """Keeps a summary.

    Raises:
        ToolError: the text is blank, the day is none, or the database fails.
    """
    of_day = day(session_date, "session_date")
    text = clean_text(summary, "summary")
    with main_pool(write=True) as connection:
        number = connection.execute(
            insert(session_summaries)
            .values(summary=text, session_date=of_day)
            .returning(session_summaries.c.id)
        ).scalar_one()
    return {"summary_id": number, "session_date": of_day}
