"""Handlers for core-memory blocks, archival passages and data about passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, insert, select

from .arguments import clean_optional_text, clean_text, now, parse_day
from .confirmations import (
    check_confirmation_arguments,
    create_confirmation,
    use_confirmation,
)
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
    """Return a block.

    Raises:
        ToolError: there is no such block, or Letta fails.
    """
    block = read_block(block_label)
    return {"block_label": block.label, "value": block.value, "limit": block.limit}


def write_core_memory(*, block_label: str, value: str) -> dict[str, Any]:
    """Replace a block's text; return the new and the previous text.

    Raises:
        ToolError: there is no such block, the text is too long, or Letta fails.
    """
    block = read_block(block_label)
    text = clean_optional_text(value, "value")
    write_block(block, text)
    return {"block_label": block.label, "value": text, "former_value": block.value}


def list_core_memory_blocks() -> dict[str, Any]:
    """Return all blocks with their lengths.

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
    """Store a record of a memory search.

    Raises:
        ToolError: a text is blank, or the database fails.
    """
    query = clean_text(search_query, "search_query")
    passages = list(
        dict.fromkeys(
            clean_text(passage_id, "passage_ids") for passage_id in passage_ids
        )
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
    """Return a passage with a confirmation code; with the code, delete the passage.

    The code is used before the request to Letta: if Letta fails, a new code is needed.

    Raises:
        ToolError: there is no such passage, the code is not valid, or Letta or the
            database fails.
    """
    check_confirmation_arguments(confirmed, confirmation)
    text = find_passage(passage_id)
    subject = f"passage {passage_id}"
    answer = {"passage_id": passage_id, "text": text}
    if not confirmed:
        with main_pool(write=True) as connection:
            created = create_confirmation(connection, subject, text)
        return {
            "deleted": False,
            **answer,
            "confirmation": created.confirmation,
            "expires_at": created.expires_at,
        }
    with main_pool(write=True) as connection:
        use_confirmation(connection, confirmation, subject, text)
    delete_passage(passage_id)
    return {"deleted": True, **answer, "confirmation": None, "expires_at": None}


def enrich_passage(
    *, passage_id: str, context_note: str, session_date: str | None = None
) -> dict[str, Any]:
    """Add a note to a passage.

    Raises:
        ToolError: a text is blank, the date is invalid, or the database fails.
    """
    passage = clean_text(passage_id, "passage_id")
    values = {
        "passage_id": passage,
        "context_note": clean_text(context_note, "context_note"),
        "session_date": parse_day(session_date, "session_date"),
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
