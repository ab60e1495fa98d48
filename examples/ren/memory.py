"""Core-memory blocks, archival passages, and what is known about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, insert, select

from .arguments import clean_text, day, now, optional_text
from .confirmations import check_confirmed, offer, redeem
from .core_memory import (
    delete_passage,
    find_passage,
    list_blocks,
    read_block,
    write_block,
)
from .main_tables import memory_accesses, passage_notes
from .pools import main_pool

__all__ = [
    "delete_archival_passage",
    "enrich_passage",
    "list_core_memory_blocks",
    "log_memory_access",
    "read_core_memory",
    "write_core_memory",
]


def read_core_memory(*, block_label: str) -> dict[str, Any]:
    """One block.

    Raises:
        ToolError: there is none, or Letta fails.
    """
    block = read_block(block_label)
    return {"block_label": block.label, "value": block.value, "limit": block.limit}


def write_core_memory(*, block_label: str, value: str) -> dict[str, Any]:
    """Replaces a block's text; the answer has the old one.

    Raises:
        ToolError: there is no such block, the text is too long, or Letta fails.
    """
    block = read_block(block_label)
    text = optional_text(value, "value")
    write_block(block, text)
    return {"block_label": block.label, "value": text, "former_value": block.value}


def list_core_memory_blocks() -> dict[str, Any]:
    """Every block with its length.

    Raises:
        ToolError: Letta fails.
    """
    return {
        "blocks": [
            {
                "block_label": block.label,
                "description": block.description,
                "characters": len(block.value),
                "limit": block.limit,
            }
            for block in list_blocks()
        ]
    }


def log_memory_access(
    *, search_query: str, passage_ids: Sequence[str], used_in_response: bool
) -> dict[str, Any]:
    """Keeps one access.

    Raises:
        ToolError: a text is blank, or the database fails.
    """
    query = clean_text(search_query, "search_query")
    passages = list(
        dict.fromkeys(clean_text(one, "passage_ids") for one in passage_ids)
    )
    with main_pool(write=True) as connection:
        number = connection.execute(
            insert(memory_accesses)
            .values(
                search_query=query,
                passage_ids=passages,
                used_in_response=used_in_response,
                created_at=now(),
            )
            .returning(memory_accesses.c.id)
        ).scalar_one()
    return {"access_id": number, "passages": len(passages)}


def delete_archival_passage(
    *, passage_id: str, confirmed: bool = False, confirmation: str | None = None
) -> dict[str, Any]:
    """Shows a passage and offers a confirmation; with one, deletes the passage.

    The confirmation is used up before Letta is asked: when Letta fails, a new one is
    needed.

    Raises:
        ToolError: there is no such passage, the confirmation is not good, or Letta or
            the database fails.
    """
    check_confirmed(confirmed, confirmation)
    text = find_passage(passage_id)
    subject = f"passage {passage_id}"
    answer = {"passage_id": passage_id, "text": text}
    if not confirmed:
        with main_pool(write=True) as connection:
            offered = offer(connection, subject, text)
        return {
            "deleted": False,
            **answer,
            "confirmation": offered.confirmation,
            "expires_at": offered.expires_at,
        }
    with main_pool(write=True) as connection:
        redeem(connection, confirmation, subject, text)
    delete_passage(passage_id)
    return {"deleted": True, **answer, "confirmation": None, "expires_at": None}


def enrich_passage(
    *, passage_id: str, context_note: str, session_date: str | None = None
) -> dict[str, Any]:
    """Adds a note to a passage.

    Raises:
        ToolError: a text is blank, the day is none, or the database fails.
    """
    passage = clean_text(passage_id, "passage_id")
    values = {
        "passage_id": passage,
        "context_note": clean_text(context_note, "context_note"),
        "session_date": day(session_date, "session_date"),
        "created_at": now(),
    }
    notes = passage_notes
    with main_pool(write=True) as connection:
        number = connection.execute(
            insert(notes).values(values).returning(notes.c.id)
        ).scalar_one()
        count = connection.execute(
            select(func.count()).where(notes.c.passage_id == passage)
        ).scalar_one()
    return {"note_id": number, "passage_id": passage, "notes": count}
