"""Handlers of create_request and create_approval: requests to the user."""

from __future__ import annotations

from typing import Any

from examples.molecule import store
from examples.molecule.registry import get_acting_workspace
from toolcast_runtime import ToolError

__all__ = ["create_approval", "create_request"]


def create_request(
    *, kind: str, title: str, detail: str | None = None, priority: int | None = None
) -> dict[str, Any]:
    """Create a request to the user and return its id.

    The user's decision is delivered to the inbox of the workspace.
    """
    if not title.strip():
        raise ToolError("The title is blank.")
    own = get_acting_workspace(None)
    request_id = store.new_id("req")
    with store.write_transaction() as db:
        db.execute(
            "INSERT INTO requests (id, workspace_id, kind, title, detail, priority,"
            " status, created_at) VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)",
            (request_id, own.id, kind, title, detail, priority, store.now()),
        )
    return {"request_id": request_id, "kind": kind, "status": "pending"}


def create_approval(*, action: str, reason: str | None = None) -> dict[str, Any]:
    """Create a request to the user to approve an action."""
    return create_request(kind="approval", title=action, detail=reason)
