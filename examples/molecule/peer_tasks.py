"""The tasks that a workspace does for its peers, and what it remembers of them."""

from __future__ import annotations

import sqlite3
from typing import Any

from examples.molecule import a2a, activities, store
from examples.molecule.registry import Workspace

__all__ = ["abandon_unfinished", "begin", "find", "finish", "leave_in_inbox"]


def begin(workspace: Workspace, caller: Workspace, context_id: str, text: str) -> str:
    """Accepts a task from `caller` and gives its id."""
    task_id = store.new_id("task")
    with store.writing() as db:
        db.execute(
            "INSERT INTO a2a_tasks"
            " (id, workspace_id, caller_id, context_id, state, request, updated_at)"
            " VALUES (?, ?, ?, ?, 'working', ?, ?)",
            (task_id, workspace.id, caller.id, context_id, text, store.now()),
        )
        activities.record_both(db, caller.id, workspace.id, "task", text)
    return task_id


def finish(task_id: str, state: str, answer: str) -> None:
    """Ends a task as completed or failed with the words for its caller."""
    with store.writing() as db:
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
    """The A2A Task; None when `caller` never gave this workspace such a task."""
    with store.reading() as db:
        row = db.execute(
            "SELECT * FROM a2a_tasks"
            " WHERE id = ? AND workspace_id = ? AND caller_id = ?",
            (task_id, workspace.id, caller.id),
        ).fetchone()
    return None if row is None else _task(row)


def abandon_unfinished(workspace_id: str) -> None:
    """Fails the tasks on which nobody works any more since the workspace stopped."""
    with store.writing() as db:
        db.execute(
            "UPDATE a2a_tasks SET state = 'failed', updated_at = ?,"
            " answer = 'The workspace stopped before it had finished.'"
            " WHERE workspace_id = ? AND state = 'working'",
            (store.now(), workspace_id),
        )


def leave_in_inbox(workspace: Workspace, caller: Workspace, text: str) -> None:
    """Keeps a peer's message until the workspace's agent takes it."""
    with store.writing() as db:
        activities.record_both(db, caller.id, workspace.id, "task", text, pending=True)


def _task(row: sqlite3.Row) -> dict[str, Any]:
    return a2a.task(
        row["id"], row["context_id"], row["state"], row["updated_at"], row["answer"]
    )
