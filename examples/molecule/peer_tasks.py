"""A2A tasks that a workspace works on for its peers."""

from __future__ import annotations

import sqlite3
from typing import Any

from examples.molecule import a2a, activities, store
from examples.molecule.registry import Workspace

__all__ = ["fail_unfinished", "start", "find", "finish", "add_to_inbox"]


def start(workspace: Workspace, caller: Workspace, context_id: str, text: str) -> str:
    """Store a new task from `caller` and return its id."""
    task_id = store.new_id("task")
    with store.write_transaction() as db:
        db.execute(
            "INSERT INTO a2a_tasks"
            " (id, workspace_id, caller_id, context_id, state, request, updated_at)"
            " VALUES (?, ?, ?, ?, 'working', ?, ?)",
            (task_id, workspace.id, caller.id, context_id, text, store.now()),
        )
        activities.record_both(db, caller.id, workspace.id, "task", text)
    return task_id


def finish(task_id: str, state: str, answer: str) -> None:
    """Set the final state of a task, `completed` or `failed`, and its answer."""
    with store.write_transaction() as db:
        row = db.execute("SELECT * FROM a2a_tasks WHERE id = ?", (task_id,)).fetchone()
        db.execute(
            "UPDATE a2a_tasks SET state = ?, answer = ?, updated_at = ? WHERE id = ?",
            (state, answer, store.now(), task_id),
        )
        activities.record_both(
            db, row["workspace_id"], row["caller_id"], "reply", answer
        )


def find(
    workspace: Workspace, caller: Workspace, task_id: str
) -> dict[str, Any] | None:
    """Return the A2A Task with this id that `caller` delegated, or None."""
    with store.read_transaction() as db:
        row = db.execute(
            "SELECT * FROM a2a_tasks"
            " WHERE id = ? AND workspace_id = ? AND caller_id = ?",
            (task_id, workspace.id, caller.id),
        ).fetchone()
    return None if row is None else _build_task(row)


def fail_unfinished(workspace_id: str) -> None:
    """Mark the tasks as failed that were running when the workspace stopped."""
    with store.write_transaction() as db:
        db.execute(
            "UPDATE a2a_tasks SET state = 'failed', updated_at = ?,"
            " answer = 'The workspace stopped before it had finished.'"
            " WHERE workspace_id = ? AND state = 'working'",
            (store.now(), workspace_id),
        )


def add_to_inbox(workspace: Workspace, caller: Workspace, text: str) -> None:
    """Add a peer's message to the workspace's inbox."""
    with store.write_transaction() as db:
        activities.record_both(db, caller.id, workspace.id, "task", text, pending=True)


def _build_task(row: sqlite3.Row) -> dict[str, Any]:
    return a2a.build_task(
        row["id"], row["context_id"], row["state"], row["updated_at"], row["answer"]
    )
