"""Handlers of the workspace's own task list: task_list, _add, _update and _complete."""

from __future__ import annotations

import sqlite3
from typing import Any

from examples.molecule import store
from examples.molecule.registry import acting_workspace
from toolcast_runtime import ToolError

__all__ = ["task_add", "task_complete", "task_list", "task_update"]

STATUSES = ("open", "in_progress", "blocked", "done")


def task_list(*, status: str | None = None, limit: int = 20) -> dict[str, Any]:
    """Gives tasks of one status, oldest first; without one all that are not done."""
    own = acting_workspace(None)
    if status is not None:
        _check_status(status)
    with store.reading() as db:
        rows = db.execute(
            "SELECT * FROM tasks WHERE workspace_id = ?"
            " AND (status = ? OR (? IS NULL AND status <> 'done'))"
            " ORDER BY seq LIMIT ?",
            (own.id, status, status, limit),
        ).fetchall()
    return {"tasks": [_shown(row) for row in rows]}


def task_add(*, title: str, next_action: str | None = None) -> dict[str, Any]:
    """Adds an open task and gives it with its new id."""
    if not title.strip():
        raise ToolError("The task's title is blank.")
    own = acting_workspace(None)
    moment = store.now()
    with store.writing() as db:
        row = db.execute(
            "INSERT INTO tasks (id, workspace_id, title, status, next_action,"
            " created_at, updated_at) VALUES (?, ?, ?, 'open', ?, ?, ?) RETURNING *",
            (store.new_id("todo"), own.id, title, next_action or None, moment, moment),
        ).fetchone()
    return _shown(row)


def task_update(
    *, task_id: str, status: str | None = None, next_action: str | None = None
) -> dict[str, Any]:
    """Changes what is given, leaves the rest, and gives the task as it is then.

    An empty next_action removes the former one.
    """
    if status is None and next_action is None:
        raise ToolError("Nothing to change: give a status, a next_action or both.")
    if status is not None:
        _check_status(status)
    return _change(task_id, status, next_action)


def task_complete(*, task_id: str) -> dict[str, Any]:
    """Marks the task as done; doing it again changes nothing but the time."""
    return _change(task_id, "done", None)


def _change(
    task_id: str, status: str | None, next_action: str | None
) -> dict[str, Any]:
    own = acting_workspace(None)
    with store.writing() as db:
        row = db.execute(
            "UPDATE tasks SET status = COALESCE(?, status),"
            " next_action = NULLIF(COALESCE(?, next_action), ''), updated_at = ?"
            " WHERE id = ? AND workspace_id = ? RETURNING *",
            (status, next_action, store.now(), task_id, own.id),
        ).fetchone()
    if row is None:
        raise ToolError(f"There is no task `{task_id}`; task_list shows the tasks.")
    return _shown(row)


def _check_status(status: str) -> None:
    if status not in STATUSES:
        raise ToolError(f"`{status}` is no status; use one of {', '.join(STATUSES)}.")


def _shown(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "task_id": row["id"],
        "title": row["title"],
        "status": row["status"],
        "next_action": row["next_action"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
    }
