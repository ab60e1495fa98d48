"""Handler of memory: long-term memory about the user."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Literal

from toolcast_runtime import ToolError

from .arguments import clean_text, parse_row_id, require
from .memory_search import Filters, find
from .memory_table import Memory, insert, load, remove, update
from .moments import parse_moment, to_millis
from .store import open_database

__all__ = ["memory"]

Action = Literal["search", "create", "update", "delete", "list", "get"]
Category = Literal[
    "Health",
    "Career",
    "Family",
    "Personal",
    "Technical Projects",
    "Social",
    "Finance",
    "Self-care",
    "Environment",
    "Hobbies",
    "Admin",
    "Philosophy",
]


def memory(
    *,
    action: Action,
    keywords: Sequence[str] | None = None,
    category: Category | None = None,
    topic_id: str | None = None,
    memory_id: str | None = None,
    memory: str | None = None,
    min_keywords: int = 2,
    created_after: str | None = None,
    created_before: str | None = None,
    limit: int = 10,
    offset: int = 0,
) -> dict[str, Any]:
    """Search, list, get, create, update or delete memories; return the affected ones.

    Raises:
        ToolError: a time is not ISO 8601, a text is blank, the memory does not exist,
            or its text is stored already.
    """
    if action in ("search", "list"):
        filters = Filters(
            keywords=_normalize_keywords(keywords or []),
            min_keywords=min_keywords,
            category=category,
            topic_id=topic_id,
            created_after=_parse_time(created_after, "created_after"),
            created_before=_parse_time(created_before, "created_before"),
        )
        with open_database() as connection:
            found, total = find(connection, filters, limit=limit, offset=offset)
        return _build_result(action, found, total)

    if action == "get":
        with open_database() as connection:
            return _build_result(action, [_get_memory(connection, memory_id)])

    text = None if memory is None else clean_text(memory, "memory")
    words = None if keywords is None else _normalize_keywords(keywords)
    topic = None if topic_id is None else clean_text(topic_id, "topic_id")
    with open_database(write=True) as connection:
        if action == "create":
            new_text = require(text, "memory")
            _check_unique(connection, new_text)
            changed = insert(connection, new_text, words or [], category, topic)
        elif action == "update":
            old = _get_memory(connection, memory_id)
            if text is not None:
                _check_unique(connection, text, except_id=old.id)
            changed = update(
                connection,
                old,
                text=old.text if text is None else text,
                keywords=old.keywords if words is None else words,
                category=old.category if category is None else category,
                topic_id=old.topic_id if topic is None else topic,
            )
        else:
            changed = _get_memory(connection, memory_id)
            remove(connection, changed)
    return _build_result(action, [changed])


def _build_result(
    action: Action, memories: list[Memory], total: int | None = None
) -> dict[str, Any]:
    return {
        "action": action,
        "memories": [memory.as_json() for memory in memories],
        "total": len(memories) if total is None else total,
    }


def _get_memory(connection: sqlite3.Connection, memory_id: str | None) -> Memory:
    identifier = require(memory_id, "memory_id")
    found = load(connection, parse_row_id(identifier, "memory_id"))
    if found is None:
        raise ToolError(f"There is no memory with the id {identifier}.")
    return found


def _check_unique(
    connection: sqlite3.Connection, text: str, *, except_id: int | None = None
) -> None:
    row = connection.execute(
        "SELECT id FROM memories WHERE text = ?", [text]
    ).fetchone()
    if row is not None and row["id"] != except_id:
        raise ToolError(f"Memory {row['id']} already has this text.")


def _normalize_keywords(keywords: Sequence[str]) -> list[str]:
    """Return the keywords on one line each, without case-insensitive duplicates."""
    lines = (" ".join(clean_text(word, "keywords").split()) for word in keywords)
    unique: dict[str, str] = {}
    for line in lines:
        unique.setdefault(line.casefold(), line)
    return list(unique.values())


def _parse_time(text: str | None, parameter: str) -> int | None:
    return None if text is None else to_millis(parse_moment(text, parameter))
