"""`search_transcripts`: what was said in the workspace's chats."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from .main_tables import chat_transcripts
from .pools import main_pool
from .searching import count_of_words

__all__ = ["search_transcripts"]


def search_transcripts(*, query: str, limit: int = 10) -> dict[str, Any]:
    """The messages that have most of the words.

    Raises:
        ToolError: the query is blank, or the database fails.
    """
    chats = chat_transcripts
    matched = count_of_words(chats.c.content, query).label("matched")
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
