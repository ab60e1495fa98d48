"""Handlers of the standing goal: goal_get, goal_set and goal_clear."""

from __future__ import annotations

from typing import Any

from examples.molecule import store
from examples.molecule.registry import acting_workspace
from toolcast_runtime import ToolError

__all__ = ["goal_clear", "goal_get", "goal_set"]


def goal_get() -> dict[str, Any]:
    """Gives the workspace's goal; its members are None when there is none."""
    own = acting_workspace(None)
    with store.reading() as db:
        row = db.execute(
            "SELECT goal, cadence_seconds, set_at FROM goals WHERE workspace_id = ?",
            (own.id,),
        ).fetchone()
    if row is None:
        return {"goal": None, "cadence_seconds": None, "set_at": None}
    return dict(row)


def goal_set(*, goal: str, cadence_seconds: int | None = None) -> dict[str, Any]:
    """Sets the goal in place of the former one."""
    if not goal.strip():
        raise ToolError("The goal is blank; goal_clear removes a goal.")
    own = acting_workspace(None)
    set_at = store.now()
    with store.writing() as db:
        db.execute(
            "INSERT INTO goals (workspace_id, goal, cadence_seconds, set_at)"
            " VALUES (?, ?, ?, ?) ON CONFLICT (workspace_id) DO UPDATE SET"
            " goal = excluded.goal, cadence_seconds = excluded.cadence_seconds,"
            " set_at = excluded.set_at",
            (own.id, goal, cadence_seconds, set_at),
        )
    return {"goal": goal, "cadence_seconds": cadence_seconds, "set_at": set_at}


def goal_clear() -> dict[str, Any]:
    """Removes the goal; `cleared` is False when there was none."""
    own = acting_workspace(None)
    with store.writing() as db:
        removed = db.execute(
            "DELETE FROM goals WHERE workspace_id = ?", (own.id,)
        ).rowcount
    return {"cleared": removed == 1}
