"""Handlers that hand work to peers: delegate_task and its asynchronous pair."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from examples.molecule import a2a
from examples.molecule.registry import Workspace, acting_workspace, peer_of
from toolcast_runtime import ToolError

__all__ = ["check_task_status", "delegate_task", "delegate_task_async"]

WAIT_SECONDS = 240.0
FINAL_STATES = frozenset({"completed", "failed", "canceled", "rejected"})


async def delegate_task(
    *, workspace_id: str, task: str, source_workspace_id: str | None = None
) -> dict[str, Any]:
    """Gives the peer's answer once it has finished the task.

    A peer that keeps messages in its inbox answers with the state `delivered`. A task
    that fails, and one that takes too long, is a ToolError.
    """
    source, peer = await _parties(source_workspace_id, workspace_id)
    reply = await a2a.send_message(source, peer, task, blocking=True)
    deadline = time.monotonic() + WAIT_SECONDS
    pause = 0.1
    while reply["kind"] == "task" and reply["status"]["state"] not in FINAL_STATES:
        if time.monotonic() > deadline:
            raise ToolError(
                f"`{peer.id}` still works on it after {WAIT_SECONDS:.0f} seconds. Ask "
                f"later with check_task_status and task_id `{reply['id']}`."
            )
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, 2.0)
        reply = await a2a.get_task(source, peer, reply["id"])
    result = _result(peer, reply)
    if result["state"] not in ("completed", "delivered"):
        raise ToolError(f"`{peer.id}` did not do the task: {result['answer']}")
    return result


async def delegate_task_async(
    *, workspace_id: str, task: str, source_workspace_id: str | None = None
) -> dict[str, Any]:
    """Gives the task's id and first state at once."""
    source, peer = await _parties(source_workspace_id, workspace_id)
    reply = await a2a.send_message(source, peer, task, blocking=False)
    return _result(peer, reply)


async def check_task_status(
    *, workspace_id: str, task_id: str, source_workspace_id: str | None = None
) -> dict[str, Any]:
    """Gives the state that the task has at the peer, with the answer when there is one.

    Only the workspace that delegated a task can ask for it.
    """
    source, peer = await _parties(source_workspace_id, workspace_id)
    return _result(peer, await a2a.get_task(source, peer, task_id))


async def _parties(source_id: str | None, peer_id: str) -> tuple[Workspace, Workspace]:
    source = await asyncio.to_thread(acting_workspace, source_id)
    return source, await asyncio.to_thread(peer_of, source, peer_id)


def _result(peer: Workspace, reply: dict[str, Any]) -> dict[str, Any]:
    """The tool's result, of an A2A Task or of the Message of a peer that waits."""
    delivered = reply["kind"] == "message"
    return {
        "workspace_id": peer.id,
        "task_id": None if delivered else reply["id"],
        "state": "delivered" if delivered else reply["status"]["state"],
        "answer": a2a.text_of(reply),
    }
