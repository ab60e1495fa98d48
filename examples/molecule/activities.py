"""Messages that workspaces sent and received: the data of the inbox and the history."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

from examples.molecule import store

__all__ = [
    "Activity",
    "list_turns",
    "list_pending",
    "record",
    "record_both",
    "mark_handled",
]

Kind = Literal["task", "reply", "broadcast", "user", "decision"]
Direction = Literal["in", "out"]


@dataclass(frozen=True, slots=True)
class Activity:
    """A message that a workspace sent or received; `peer_id` is None for the user."""

    activity_id: str
    kind: str
    direction: str
    peer_id: str | None
    text: str
    created_at: str

    def as_message(self) -> dict[str, str | None]:
        """Return the activity in the format of the inbox tools."""
        return {
            "activity_id": self.activity_id,
            "kind": self.kind,
            "peer_id": self.peer_id,
            "text": self.text,
            "received_at": self.created_at,
        }

    def as_turn(self) -> dict[str, str | None]:
        """Return the activity as a turn of the chat history."""
        return {
            "activity_id": self.activity_id,
            "direction": "received" if self.direction == "in" else "sent",
            "kind": self.kind,
            "text": self.text,
            "at": self.created_at,
        }


def record(
    db: sqlite3.Connection,
    workspace_id: str,
    kind: Kind,
    direction: Direction,
    peer_id: str | None,
    text: str,
    *,
    pending: bool = False,
) -> str:
    """Insert an activity in the caller's transaction and return its id."""
    activity_id = store.new_id("act")
    db.execute(
        "INSERT INTO activities"
        " (id, workspace_id, kind, direction, peer_id, text, created_at, pending)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            activity_id,
            workspace_id,
            kind,
            direction,
            peer_id,
            text,
            store.now(),
            int(pending),
        ),
    )
    return activity_id


def record_both(
    db: sqlite3.Connection,
    sender_id: str,
    receiver_id: str,
    kind: Kind,
    text: str,
    *,
    pending: bool = False,
) -> None:
    """Insert a message as an activity of the sender and of the receiver.

    With `pending`, the message is also added to the receiver's inbox.
    """
    record(db, sender_id, kind, "out", receiver_id, text)
    record(db, receiver_id, kind, "in", sender_id, text, pending=pending)


def list_pending(workspace_id: str, limit: int) -> list[Activity]:
    """Return the oldest messages in the workspace's inbox."""
    with store.read_transaction() as db:
        rows = db.execute(
            "SELECT * FROM activities WHERE workspace_id = ? AND pending = 1"
            " ORDER BY seq LIMIT ?",
            (workspace_id, limit),
        ).fetchall()
    return [_parse_row(row) for row in rows]


def mark_handled(workspace_id: str, activity_id: str) -> bool:
    """Remove a message from the inbox; return False if it was not in the inbox."""
    with store.write_transaction() as db:
        changed = db.execute(
            "UPDATE activities SET pending = 0"
            " WHERE workspace_id = ? AND id = ? AND pending = 1",
            (workspace_id, activity_id),
        ).rowcount
    return changed == 1


def list_turns(
    workspace_id: str, peer_id: str, limit: int, before: str | None
) -> list[Activity]:
    """Return the latest turns with a peer before a time, oldest first."""
    with store.read_transaction() as db:
        rows = db.execute(
            "SELECT * FROM activities WHERE workspace_id = ? AND peer_id = ?"
            " AND (? IS NULL OR created_at < ?)"
            " ORDER BY created_at DESC, seq DESC LIMIT ?",
            (workspace_id, peer_id, before, before, limit),
        ).fetchall()
    return [_parse_row(row) for row in reversed(rows)]


def _parse_row(row: sqlite3.Row) -> Activity:
    return Activity(
        activity_id=row["id"],
        kind=row["kind"],
        direction=row["direction"],
        peer_id=row["peer_id"],
        text=row["text"],
        created_at=row["created_at"],
    )
