"""The user's side of the platform: the chat, and the decisions on requests."""

from __future__ import annotations

import json

from examples.molecule import activities, registry, store

__all__ = ["list_chat", "decide", "list_requests", "send_message"]


def send_message(workspace_id: str, text: str) -> str:
    """Send a message to a workspace's agent and return its id in the inbox."""
    if registry.find(workspace_id) is None:
        raise LookupError(f"workspace {workspace_id} does not exist")
    with store.write_transaction() as db:
        db.execute(
            "INSERT INTO chat (id, workspace_id, author, text, attachments, created_at)"
            " VALUES (?, ?, 'user', ?, '[]', ?)",
            (store.new_id("chat"), workspace_id, text, store.now()),
        )
        return activities.record(
            db, workspace_id, "user", "in", None, text, pending=True
        )


def list_chat() -> list[str]:
    """Return the messages of all chats as lines of text, oldest first."""
    with store.read_transaction() as db:
        rows = db.execute("SELECT * FROM chat ORDER BY seq").fetchall()
    lines = []
    for row in rows:
        files = [item["uri"] for item in json.loads(row["attachments"])]
        lines.append(
            f"{row['created_at']} {row['workspace_id']} {row['author']}: {row['text']}"
            + "".join(f" [{uri}]" for uri in files)
        )
    return lines


def list_requests() -> list[str]:
    """Return the pending requests as lines of text, highest priority first."""
    with store.read_transaction() as db:
        rows = db.execute(
            "SELECT * FROM requests WHERE status = 'pending'"
            " ORDER BY COALESCE(priority, 0) DESC, seq"
        ).fetchall()
    return [
        f"{row['id']} {row['kind']} of {row['workspace_id']}: {row['title']}"
        + (f" - {row['detail']}" if row["detail"] else "")
        for row in rows
    ]


def decide(request_id: str, decision: str) -> None:
    """Store the user's decision and add it to the inbox of the requesting workspace."""
    with store.write_transaction() as db:
        row = db.execute(
            "UPDATE requests SET status = ?, decided_at = ?"
            " WHERE id = ? AND status = 'pending' RETURNING workspace_id, title",
            (decision, store.now(), request_id),
        ).fetchone()
        if row is None:
            raise LookupError(f"request {request_id} is not pending")
        text = f"{request_id} ({row['title']}): {decision}"
        activities.record(
            db, row["workspace_id"], "decision", "in", None, text, pending=True
        )
