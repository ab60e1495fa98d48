"""Handlers of delegate_task, delegate_task_async and check_task_status."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from examples.molecule import a2a
from examples.molecule.registry import Workspace, get_acting_workspace, get_peer
from toolcast_runtime import ToolError

__all__ = ["check_task_status", "delegate_task", "delegate_task_async"]

TASK_TIMEOUT_S = 240.0
FINAL_STATES = frozenset({"completed", "failed", "canceled", "rejected"})


async def delegate_task(
    *, workspace_id: str, task: str, source_workspace_id: str | None = None
) -> dict[str, Any]:
    """Send a task to a peer and return its answer when the task is completed.

    A peer that does not work on tasks itself stores the message in its inbox; the
    result then has the state `delivered`.

    Raises:
        ToolError: the task failed, or exceeded the timeout.
    """
    source, peer = await _resolve_parties(source_workspace_id, workspace_id)
    reply = await a2a.send_message(source, peer, task, blocking=True)
    deadline = time.monotonic() + TASK_TIMEOUT_S
    interval = 0.1
    while reply["kind"] == "task" and reply["status"]["state"] not in FINAL_STATES:
        if time.monotonic() > deadline:
            raise ToolError(
                f"`{peer.id}` still works on it after {TASK_TIMEOUT_S:.0f} seconds. Call "
                f"check_task_status later with task_id `{reply['id']}`."
            )
        await asyncio.sleep(interval)
        interval = min(interval * 1.5, 2.0)
        reply = await a2a.get_task(source, peer, reply["id"])
    result = _build_result(peer, reply)
    if result["state"] not in ("completed", "delivered"):
        raise ToolError(f"`{peer.id}` did not complete the task: {result['answer']}")
    return result


async def delegate_task_async(
    *, workspace_id: str, task: str, source_workspace_id: str | None = None
) -> dict[str, Any]:
    """Send a task to a peer and return its id and state without waiting."""
    source, peer = await _resolve_parties(source_workspace_id, workspace_id)
    reply = await a2a.send_message(source, peer, task, blocking=False)
    return _build_result(peer, reply)


async def check_task_status(
    *, workspace_id: str, task_id: str, source_workspace_id: str | None = None
) -> dict[str, Any]:
    """Return the state of a task at the peer, with the answer if the task is completed.

    Only the workspace that delegated the task can read its state.
    """
    source, peer = await _resolve_parties(source_workspace_id, workspace_id)
    return _build_result(peer, await a2a.get_task(source, peer, task_id))


async def _resolve_parties(
    source_id: str | None, peer_id: str
) -> tuple[Workspace, Workspace]:
    source = await asyncio.to_thread(get_acting_workspace, source_id)
    return source, await asyncio.to_thread(get_peer, source, peer_id)


def _build_result(peer: Workspace, reply: dict[str, Any]) -> dict[str, Any]:
    """Return the tool's result from the Task or Message that a peer returned."""
    delivered = reply["kind"] == "message"
    return {
        "workspace_id": peer.id,
        "task_id": None if delivered else reply["id"],
        "state": "delivered" if delivered else reply["status"]["state"],
        "answer": a2a.extract_text(reply),
    }
