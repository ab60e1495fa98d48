"""Handlers of send_to_ren and read_bridge_history: other agents' messages to Ren."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select

from .agent_loop import ask_ren
from .arguments import clean_text, now
from .main_tables import bridge_transcripts
from .pools import main_pool

__all__ = ["read_bridge_history", "send_to_ren"]


def send_to_ren(*, message: str) -> dict[str, Any]:
    """Send a message to Ren and store the message and her answer in the history.

    Raises:
        ToolError: the message is blank, or Letta or the database fails.
    """
    text = clean_text(message, "message")
    _store_entry("caller", text)
    answer = ask_ren(text)
    _store_entry("ren", answer.text)
    return {"reply": answer.text, "steps": answer.steps}


def read_bridge_history(*, limit: int = 10) -> dict[str, Any]:
    """Return the latest entries of the history, newest first.

    Raises:
        ToolError: the database fails.
    """
    with main_pool() as connection:
        rows = connection.execute(
            select(bridge_transcripts)
            .order_by(bridge_transcripts.c.id.desc())
            .limit(int(limit))
        ).all()
    return {
        "entries": [
            {
                "entry_id": row.id,
                "speaker": row.speaker,
                "content": row.content,
                "said_at": row.said_at,
            }
            for row in rows
        ]
    }


def _store_entry(speaker: str, content: str) -> None:
    with main_pool(write=True) as connection:
        connection.execute(
            insert(bridge_transcripts).values(
                speaker=speaker, content=content, said_at=now()
            )
        )
