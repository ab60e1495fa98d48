"""The `memory` tool: long-term memory about the user."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Literal

from toolcast_runtime import ToolError

from .arguments import clean_text, needed, row_id
from .memory_search import Filters, find
from .memory_table import Memory, insert, load, remove, rewrite
from .moments import millis, parse_moment
from .store import database

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
    """Search, list, read or change memories; answers with the memories concerned.

    Raises:
        ToolError: a time is not ISO 8601, a text is blank, there is no such memory, or
            its text is stored already.
    """
    if action in ("search", "list"):
        filters = Filters(
            keywords=_keywords(keywords or []),
            min_keywords=min_keywords,
            category=category,
            topic_id=topic_id,
            created_after=_millis(created_after, "created_after"),
            created_before=_millis(created_before, "created_before"),
        )
        with database() as connection:
            found, total = find(connection, filters, limit=limit, offset=offset)
        return _answer(action, found, total)

    if action == "get":
        with database() as connection:
            return _answer(action, [_existing(connection, memory_id)])

    text = None if memory is None else clean_text(memory, "memory")
    words = None if keywords is None else _keywords(keywords)
    topic = None if topic_id is None else clean_text(topic_id, "topic_id")
    with database(write=True) as connection:
        if action == "create":
            fresh = needed(text, "memory")
            _refuse_duplicate(connection, fresh)
            changed = insert(connection, fresh, words or [], category, topic)
        elif action == "update":
            old = _existing(connection, memory_id)
            if text is not None:
                _refuse_duplicate(connection, text, apart_from=old.id)
            changed = rewrite(
                connection,
                old,
                text=old.text if text is None else text,
                keywords=old.keywords if words is None else words,
                category=old.category if category is None else category,
                topic_id=old.topic_id if topic is None else topic,
            )
        else:
            changed = _existing(connection, memory_id)
            remove(connection, changed)
    return _answer(action, [changed])


def _answer(
    action: Action, memories: list[Memory], total: int | None = None
) -> dict[str, Any]:
    return {
        "action": action,
        "memories": [one.as_json() for one in memories],
        "total": len(memories) if total is None else total,
    }


def _existing(connection: sqlite3.Connection, memory_id: str | None) -> Memory:
    wanted = needed(memory_id, "memory_id")
    found = load(connection, row_id(wanted, "memory_id"))
    if found is None:
        raise ToolError(f"There is no memory with the id {wanted}.")
    return found


def _refuse_duplicate(
    connection: sqlite3.Connection, text: str, *, apart_from: int | None = None
) -> None:
    row = connection.execute(
        "SELECT id FROM memories WHERE text = ?", [text]
    ).fetchone()
    if row is not None and row["id"] != apart_from:
        raise ToolError(f"Memory {row['id']} says exactly this already.")


def _keywords(keywords: Sequence[str]) -> list[str]:
    """The keywords, each on one line and once, whatever its case."""
    lines = (" ".join(clean_text(word, "keywords").split()) for word in keywords)
    unique: dict[str, str] = {}
    for line in lines:
        unique.setdefault(line.casefold(), line)
    return list(unique.values())


def _millis(text: str | None, parameter: str) -> int | None:
    return None if text is None else millis(parse_moment(text, parameter))
