"""Handlers of broadcast_message, send_message_to_user and chat_history."""

from __future__ import annotations

import json
import mimetypes
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from examples.molecule import activities, store
from examples.molecule.registry import get_acting_workspace, get_peer, list_organization
from toolcast_runtime import ToolError

__all__ = ["broadcast_message", "chat_history", "send_message_to_user"]

URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)


def broadcast_message(
    *, message: str, workspace_id: str | None = None
) -> dict[str, Any]:
    """Add the message to the inbox of every other workspace of the organization.

    All inboxes are changed in workspace transaction, whether the workspaces run or not.
    """
    source = get_acting_workspace(workspace_id)
    if not source.can_broadcast:
        raise ToolError(
            f"`{source.id}` does not have the ability to broadcast; "
            "delegate to a peer that has it, or to single peers."
        )
    others = [
        workspace.id
        for workspace in list_organization(source)
        if workspace.id != source.id
    ]
    with store.write_transaction() as db:
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
    """Append the message to the chat between the workspace's agent and the user."""
    source = get_acting_workspace(workspace_id)
    files = [_resolve_attachment(item) for item in attachments or ()]
    message_id = store.new_id("chat")
    with store.write_transaction() as db:
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
    """Return the latest turns with a peer before a time, oldest first."""
    source = get_acting_workspace(source_workspace_id)
    before = None if before_ts is None else _parse_timestamp(before_ts)
    peer_ids = {workspace.id for workspace in list_organization(source)} - {source.id}
    if peer_id not in peer_ids:
        get_peer(source, peer_id)  # Raises the same error as the other tools.
    turns = activities.list_turns(source.id, peer_id, limit, before)
    return {
        "workspace_id": source.id,
        "peer_id": peer_id,
        "turns": [turn.as_turn() for turn in turns],
    }


def _resolve_attachment(item: str | Mapping[str, object]) -> dict[str, object]:
    """Return an attachment as an object; a string is a URI or the path of a file."""
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


def _parse_timestamp(text: str) -> str:
    if not RFC_3339.fullmatch(text):
        raise ToolError(
            f"before_ts `{text}` is not an RFC 3339 time such as 2026-01-31T09:30:00Z."
        )
    try:
        return store.format_timestamp(datetime.fromisoformat(text.upper()))
    except (ValueError, OverflowError) as error:
        raise ToolError(f"before_ts `{text}` is not a time: {error}.") from error
