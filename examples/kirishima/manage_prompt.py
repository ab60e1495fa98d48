"""Handler of manage_prompt: lines that the assistant adds to its system prompt."""

from __future__ import annotations

import sqlite3
from typing import Any, Literal

from whenever import Instant

from toolcast_runtime import ToolError

from .arguments import clean_text, parse_row_id, require
from .moments import format_utc, to_millis
from .store import open_database

__all__ = ["list_active_lines", "manage_prompt"]

Action = Literal["add", "delete", "list"]


def manage_prompt(
    *,
    action: Action,
    prompt_id: str | None = None,
    prompt_text: str | None = None,
    reasoning: str | None = None,
) -> dict[str, Any]:
    """Add, delete or list prompt lines; return the affected lines.

    A deleted line stays in the database with both reasons, but is no longer listed.

    Raises:
        ToolError: the text is blank, has several lines or is an active line, or the
            line does not exist.
    """
    if action == "list":
        rows = _read_active_rows()
    elif action == "add":
        line = _validate_line(require(prompt_text, "prompt_text"))
        reason = clean_text(require(reasoning, "reasoning"), "reasoning")
        with open_database(write=True) as connection:
            rows = [_add(connection, line, reason)]
    else:
        line_id = require(prompt_id, "prompt_id")
        delete_reason = (
            None if reasoning is None else clean_text(reasoning, "reasoning")
        )
        with open_database(write=True) as connection:
            rows = [_delete(connection, line_id, delete_reason)]
    return {"action": action, "prompts": [_format_line(row) for row in rows]}


def list_active_lines() -> list[str]:
    """Return the active prompt lines, oldest first.

    Raises:
        ToolError: the database is busy.
    """
    return [row["text"] for row in _read_active_rows()]


def _read_active_rows() -> list[sqlite3.Row]:
    with open_database() as connection:
        return connection.execute(
            "SELECT * FROM prompt_lines WHERE deleted_at IS NULL ORDER BY id"
        ).fetchall()


def _validate_line(text: str) -> str:
    line = clean_text(text, "prompt_text")
    if len(line.splitlines()) > 1:
        raise ToolError("`prompt_text` must be one line. Add each line separately.")
    return line


def _add(connection: sqlite3.Connection, line: str, reason: str) -> sqlite3.Row:
    existing = connection.execute(
        "SELECT id FROM prompt_lines WHERE text = ? AND deleted_at IS NULL", [line]
    ).fetchone()
    if existing is not None:
        raise ToolError(f"Line {existing['id']} already has this text.")
    row: sqlite3.Row = connection.execute(
        "INSERT INTO prompt_lines (text, reasoning, created_at) VALUES (?, ?, ?) "
        "RETURNING *",
        [line, reason, to_millis(Instant.now())],
    ).fetchone()
    return row


def _delete(
    connection: sqlite3.Connection, line_id: str, reason: str | None
) -> sqlite3.Row:
    row: sqlite3.Row | None = connection.execute(
        "UPDATE prompt_lines SET deleted_at = ?, delete_reasoning = ? "
        "WHERE id = ? AND deleted_at IS NULL RETURNING *",
        [to_millis(Instant.now()), reason, parse_row_id(line_id, "prompt_id")],
    ).fetchone()
    if row is None:
        raise ToolError(f"There is no prompt line with the id {line_id}.")
    return row


def _format_line(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "prompt_id": str(row["id"]),
        "prompt_text": row["text"],
        "reasoning": row["reasoning"],
        "created_at": format_utc(row["created_at"]),
    }
