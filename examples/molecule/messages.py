"""Handlers that send messages: to the organisation and to the user; and the history."""

from __future__ import annotations

import json
import mimetypes
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from examples.molecule import activities, store
from examples.molecule.registry import acting_workspace, organisation_of, peer_of
from toolcast_runtime import ToolError

__all__ = ["broadcast_message", "chat_history", "send_message_to_user"]

URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)


def broadcast_message(
    *, message: str, workspace_id: str | None = None
) -> dict[str, Any]:
    """Puts the message into the inbox of every other workspace of the organisation.

    All of them get it or none does; whether they run does not matter.
    """
    source = acting_workspace(workspace_id)
    if not source.can_broadcast:
        raise ToolError(
            f"`{source.id}` has not been given the ability to broadcast; "
            "ask a peer that has it, or delegate to single peers."
        )
    others = [one.id for one in organisation_of(source) if one.id != source.id]
    with store.writing() as db:
        for other in others:
            activities.record_both(
                db, source.id, other, "broadcast", message, pending=True
            )
    return {"workspace_id": source.id, "delivered_to": others}


def send_message_to_user(
    *,
    message: str,
    attachments: Sequence[str | Mapping[str, object]] | None = None,
    workspace_id: str | None = None,
) -> dict[str, Any]:
    """Appends the message to the chat between the workspace's agent and the user."""
    source = acting_workspace(workspace_id)
    files = [_attachment(item) for item in attachments or ()]
    message_id = store.new_id("chat")
    with store.writing() as db:
        db.execute(
            "INSERT INTO chat (id, workspace_id, author, text, attachments, created_at)"
            " VALUES (?, ?, 'agent', ?, ?, ?)",
            (message_id, source.id, message, json.dumps(files), store.now()),
        )
    return {
        "message_id": message_id,
        "workspace_id": source.id,
        "attachments": files,
    }


def chat_history(
    *,
    peer_id: str,
    limit: int = 20,
    before_ts: str | None = None,
    source_workspace_id: str | None = None,
) -> dict[str, Any]:
    """Gives the latest turns with one peer before a moment, oldest first."""
    source = acting_workspace(source_workspace_id)
    before = None if before_ts is None else _moment(before_ts)
    known = {one.id for one in organisation_of(source)} - {source.id}
    if peer_id not in known:
        peer_of(source, peer_id)  # says in the usual words why it is no peer
    turns = activities.between(source.id, peer_id, limit, before)
    return {
        "workspace_id": source.id,
        "peer_id": peer_id,
        "turns": [turn.as_turn() for turn in turns],
    }


def _attachment(item: str | Mapping[str, object]) -> dict[str, object]:
    """The attachment as the chat keeps it; a path must name a file that exists."""
    if not isinstance(item, str):
        return dict(item)
    if URI.match(item):
        name = item.rstrip("/").rpartition("/")[2] or item
        return {"uri": item, "name": name}
    path = Path(item).absolute()
    if not path.is_file():
        raise ToolError(f"The attachment `{item}` is neither a URI nor a file.")
    mime_type, _ = mimetypes.guess_type(path.name)
    return {
        "uri": path.as_uri(),
        "name": path.name,
        "mimeType": mime_type or "application/octet-stream",
        "size": path.stat().st_size,
    }


def _moment(text: str) -> str:
    if not RFC_3339.fullmatch(text):
        raise ToolError(
            f"before_ts `{text}` is no RFC 3339 time, such as 2026-01-31T09:30:00Z."
        )
    try:
        return store.timestamp(datetime.fromisoformat(text.upper()))
    except (ValueError, OverflowError) as error:
        raise ToolError(f"before_ts `{text}` is no time: {error}.") from error
