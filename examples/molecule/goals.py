"""Handlers of goal_get, goal_set and goal_clear: the goal of a workspace."""

from __future__ import annotations

from typing import Any

from examples.molecule import store
from examples.molecule.registry import get_acting_workspace
from toolcast_runtime import ToolError

__all__ = ["goal_clear", "goal_get", "goal_set"]


def goal_get() -> dict[str, Any]:
    """Return the workspace's goal; all values are None if it has no goal."""
    own = get_acting_workspace(None)
    with store.read_transaction() as db:
        row = db.execute(
            "SELECT goal, cadence_seconds, set_at FROM goals WHERE workspace_id = ?",
            (own.id,),
        ).fetchone()
    if row is None:
        return {"goal": None, "cadence_seconds": None, "set_at": None}
    return dict(row)


def goal_set(*, goal: str, cadence_seconds: int | None = None) -> dict[str, Any]:
    """Set the goal and replace the previous one."""
    if not goal.strip():
        raise ToolError("The goal is blank; use goal_clear to remove a goal.")
    own = get_acting_workspace(None)
    set_at = store.now()
    with store.write_transaction() as db:
        db.execute(
            "INSERT INTO goals (workspace_id, goal, cadence_seconds, set_at)"
            " VALUES (?, ?, ?, ?) ON CONFLICT (workspace_id) DO UPDATE SET"
            " goal = excluded.goal, cadence_seconds = excluded.cadence_seconds,"
            " set_at = excluded.set_at",
            (own.id, goal, cadence_seconds, set_at),
        )
    return {"goal": goal, "cadence_seconds": cadence_seconds, "set_at": set_at}


def goal_clear() -> dict[str, Any]:
    """Delete the goal; `cleared` is False if there was no goal."""
    own = get_acting_workspace(None)
    with store.write_transaction() as db:
        removed = db.execute(
            "DELETE FROM goals WHERE workspace_id = ?", (own.id,)
        ).rowcount
    return {"cleared": removed == 1}
