"""Handlers of task_list, task_add, task_update and task_complete."""

from __future__ import annotations

import sqlite3
from typing import Any

from examples.molecule import store
from examples.molecule.registry import get_acting_workspace
from toolcast_runtime import ToolError

__all__ = ["task_add", "task_complete", "task_list", "task_update"]

STATUSES = ("open", "in_progress", "blocked", "done")


def task_list(*, status: str | None = None, limit: int = 20) -> dict[str, Any]:
    """Return tasks, oldest first; without a status, all that are not done."""
    own = get_acting_workspace(None)
    if status is not None:
        _check_status(status)
    with store.read_transaction() as db:
        rows = db.execute(
            "SELECT * FROM tasks WHERE workspace_id = ?"
            " AND (status = ? OR (? IS NULL AND status <> 'done'))"
            " ORDER BY seq LIMIT ?",
            (own.id, status, status, limit),
        ).fetchall()
    return {"tasks": [_format_task(row) for row in rows]}


def task_add(*, title: str, next_action: str | None = None) -> dict[str, Any]:
    """Add an open task and return it."""
    if not title.strip():
        raise ToolError("The title is blank.")
    own = get_acting_workspace(None)
    moment = store.now()
    with store.write_transaction() as db:
        row = db.execute(
            "INSERT INTO tasks (id, workspace_id, title, status, next_action,"
            " created_at, updated_at) VALUES (?, ?, ?, 'open', ?, ?, ?) RETURNING *",
            (store.new_id("todo"), own.id, title, next_action or None, moment, moment),
        ).fetchone()
    return _format_task(row)


def task_update(
    *, task_id: str, status: str | None = None, next_action: str | None = None
) -> dict[str, Any]:
    """Change the passed fields of a task and return it.

    An empty `next_action` removes the next action.
    """
    if status is None and next_action is None:
        raise ToolError("Nothing to change: pass `status`, `next_action` or both.")
    if status is not None:
        _check_status(status)
    return _update(task_id, status, next_action)


def task_complete(*, task_id: str) -> dict[str, Any]:
    """Set a task's status to done and return it."""
    return _update(task_id, "done", None)


def _update(
    task_id: str, status: str | None, next_action: str | None
) -> dict[str, Any]:
    own = get_acting_workspace(None)
    with store.write_transaction() as db:
        row = db.execute(
            "UPDATE tasks SET status = COALESCE(?, status),"
            " next_action = NULLIF(COALESCE(?, next_action), ''), updated_at = ?"
            " WHERE id = ? AND workspace_id = ? RETURNING *",
            (status, next_action, store.now(), task_id, own.id),
        ).fetchone()
    if row is None:
        raise ToolError(f"There is no task `{task_id}`; call task_list for the ids.")
    return _format_task(row)


def _check_status(status: str) -> None:
    if status not in STATUSES:
        raise ToolError(f"`{status}` is not one of {', '.join(STATUSES)}.")


def _format_task(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "task_id": row["id"],
        "title": row["title"],
        "status": row["status"],
        "next_action": row["next_action"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }
