"""`send_to_ren`: others speak with Ren."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert

from .agent_loop import ask_ren
from .arguments import clean_text, now
from .main_tables import bridge_transcripts
from .pools import main_pool

__all__ = ["send_to_ren"]


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


def _keep(speaker: str, content: str) -> None:
    with main_pool(write=True) as connection:
        connection.execute(
            insert(bridge_transcripts).values(
                speaker=speaker, content=content, said_at=now()
            )
        )
