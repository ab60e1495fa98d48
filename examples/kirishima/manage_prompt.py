"""The `manage_prompt` tool: the lines of the assistant's own prompt."""

from __future__ import annotations

import sqlite3
from typing import Any, Literal

from whenever import Instant

from toolcast_runtime import ToolError

from .arguments import clean_text, needed, row_id
from .moments import millis, utc_text
from .store import database

__all__ = ["lines_in_force", "manage_prompt"]

Action = Literal["add", "delete", "list"]


def manage_prompt(
    *,
    action: Action,
    prompt_id: str | None = None,
    prompt_text: str | None = None,
    reasoning: str | None = None,
) -> dict[str, Any]:
    """Add, delete or list prompt lines; answers with the lines concerned.

    A deleted line stays in the store with both reasons, but is never listed again.

    Raises:
        ToolError: the text is blank, more than one line or in force already, or there
            is no such line.
    """
    if action == "list":
        rows = _in_force()
    elif action == "add":
        line = _one_line(needed(prompt_text, "prompt_text"))
        reason = clean_text(needed(reasoning, "reasoning"), "reasoning")
        with database(write=True) as connection:
            rows = [_add(connection, line, reason)]
    else:
        wanted = needed(prompt_id, "prompt_id")
        why = None if reasoning is None else clean_text(reasoning, "reasoning")
        with database(write=True) as connection:
            rows = [_delete(connection, wanted, why)]
    return {"action": action, "prompts": [_as_json(row) for row in rows]}


def lines_in_force() -> list[str]:
    """The lines that the system prompt has now, oldest first.

    Raises:
        ToolError: the store is busy.
    """
    return [row["text"] for row in _in_force()]


def _in_force() -> list[sqlite3.Row]:
    with database() as connection:
        return connection.execute(
            "SELECT * FROM prompt_lines WHERE deleted_at IS NULL ORDER BY id"
        ).fetchall()


def _one_line(text: str) -> str:
    line = clean_text(text, "prompt_text")
    if len(line.splitlines()) > 1:
        raise ToolError("`prompt_text` must be one line. Add several lines one by one.")
    return line


def _add(connection: sqlite3.Connection, line: str, reason: str) -> sqlite3.Row:
    known = connection.execute(
        "SELECT id FROM prompt_lines WHERE text = ? AND deleted_at IS NULL", [line]
    ).fetchone()
    if known is not None:
        raise ToolError(f"Line {known['id']} says exactly this already.")
    row: sqlite3.Row = connection.execute(
        "INSERT INTO prompt_lines (text, reasoning, created_at) VALUES (?, ?, ?) "
        "RETURNING *",
        [line, reason, millis(Instant.now())],
    ).fetchone()
    return row


def _delete(
    connection: sqlite3.Connection, wanted: str, reason: str | None
) -> sqlite3.Row:
    row: sqlite3.Row | None = connection.execute(
        "UPDATE prompt_lines SET deleted_at = ?, delete_reasoning = ? "
        "WHERE id = ? AND deleted_at IS NULL RETURNING *",
        [millis(Instant.now()), reason, row_id(wanted, "prompt_id")],
    ).fetchone()
    if row is None:
        raise ToolError(f"There is no prompt line with the id {wanted}.")
    return row


def _as_json(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "prompt_id": str(row["id"]),
        "prompt_text": row["text"],
        "reasoning": row["reasoning"],
        "created_at": utc_text(row["created_at"]),
    }
