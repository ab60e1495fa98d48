"""The user's side of the platform: the chat, and requests that wait for a decision."""

from __future__ import annotations

import json

from examples.molecule import activities, registry, store

__all__ = ["chat", "decide", "requests", "say"]


def say(workspace_id: str, text: str) -> str:
    """Writes to a workspace's agent; gives the id of the message in its inbox."""
    if registry.find(workspace_id) is None:
        raise LookupError(f"there is no workspace {workspace_id}")
    with store.writing() as db:
        db.execute(
            "INSERT INTO chat (id, workspace_id, author, text, attachments, created_at)"
            " VALUES (?, ?, 'user', ?, '[]', ?)",
            (store.new_id("chat"), workspace_id, text, store.now()),
        )
        return activities.record(
            db, workspace_id, "user", "in", None, text, pending=True
        )


def chat() -> list[str]:
    """The chat with every agent, oldest first, a line each."""
    with store.reading() as db:
        rows = db.execute("SELECT * FROM chat ORDER BY seq").fetchall()
    lines = []
    for row in rows:
        files = [item["uri"] for item in json.loads(row["attachments"])]
        lines.append(
            f"{row['created_at']} {row['workspace_id']} {row['author']}: {row['text']}"
            + "".join(f" [{uri}]" for uri in files)
        )
    return lines


def requests() -> list[str]:
    """The requests that wait for the user, the most urgent first, a line each."""
    with store.reading() as db:
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
    """Settles a request; the workspace that made it reads so in its inbox."""
    with store.writing() as db:
        row = db.execute(
            "UPDATE requests SET status = ?, decided_at = ?"
            " WHERE id = ? AND status = 'pending' RETURNING workspace_id, title",
            (decision, store.now(), request_id),
        ).fetchone()
        if row is None:
            raise LookupError(f"no request {request_id} waits for a decision")
        text = f"{request_id} ({row['title']}): {decision}"
        activities.record(
            db, row["workspace_id"], "decision", "in", None, text, pending=True
        )
