"""Handlers that ask the user for something: create_request and create_approval."""

from __future__ import annotations

from typing import Any

from examples.molecule import store
from examples.molecule.registry import acting_workspace
from toolcast_runtime import ToolError

__all__ = ["create_approval", "create_request"]


def create_request(
    *, kind: str, title: str, detail: str | None = None, priority: int | None = None
) -> dict[str, Any]:
    """Puts a request before the user and gives its id.

    The user's decision comes into the inbox of the workspace that asked.
    """
    if not title.strip():
        raise ToolError("The request's title is blank.")
    own = acting_workspace(None)
    request_id = store.new_id("req")
    with store.writing() as db:
        db.execute(
            "INSERT INTO requests (id, workspace_id, kind, title, detail, priority,"
            " status, created_at) VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)",
            (request_id, own.id, kind, title, detail, priority, store.now()),
        )
    return {"request_id": request_id, "kind": kind, "status": "pending"}


def create_approval(*, action: str, reason: str | None = None) -> dict[str, Any]:
    """Asks the user to approve an action; the same as a request of that kind."""
    return create_request(kind="approval", title=action, detail=reason)
