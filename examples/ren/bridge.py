"""`send_to_ren` and `read_bridge_history`: others speak with Ren."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select

from .agent_loop import ask_ren
from .arguments import clean_text, now
from .main_tables import bridge_transcripts
from .pools import main_pool

__all__ = ["read_bridge_history", "send_to_ren"]


def send_to_ren(*, message: str) -> dict[str, Any]:
    """Asks Ren and keeps message and answer in the bridge's history.

    Raises:
        ToolError: the message is blank, or Letta or the database fails.
    """
    text = clean_text(message, "message")
    _keep("caller", text)
    answer = ask_ren(text)
    _keep("ren", answer.text)
    return {"reply": answer.text, "steps": answer.steps}


def read_bridge_history(*, limit: int = 10) -> dict[str, Any]:
    """The last entries of the bridge's history, newest first.

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


def _keep(speaker: str, content: str) -> None:
    with main_pool(write=True) as connection:
        connection.execute(
            insert(bridge_transcripts).values(
                speaker=speaker, content=content, said_at=now()
            )
        )
