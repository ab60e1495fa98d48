"""Handler of search_transcripts."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from .main_tables import chat_transcripts
from .pools import main_pool
from .searching import count_matching_words

__all__ = ["search_transcripts"]


def search_transcripts(*, query: str, limit: int = 10) -> dict[str, Any]:
    """Return the chat messages that contain the most words of the query.

    Raises:
        ToolError: the query is blank, or the database fails.
    """
    chats = chat_transcripts
    matched = count_matching_words(chats.c.content, query).label("matched")
    with main_pool() as connection:
        rows = connection.execute(
            select(chats, matched)
            .where(matched > 0)
            .order_by(matched.desc(), chats.c.said_at.desc(), chats.c.id.desc())
            .limit(int(limit))
        ).all()
    return {
        "messages": [
            {
                "message_id": row.id,
                "speaker": row.speaker,
                "content": row.content,
                "said_at": row.said_at,
                "matched": row.matched,
            }
            for row in rows
        ]
    }
