"""Handlers that hand work to peers: delegate_task and its asynchronous pair."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from examples.molecule import a2a, activities, store
from examples.molecule.registry import Workspace, acting_workspace, peer_of
from generated._runtime.tool_response import ToolError

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
    reply = await _hand_over(source, peer, task, blocking=True)
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
    result = await _settled(source, peer, reply)
    if result["state"] not in ("completed", "delivered"):
        raise ToolError(f"`{peer.id}` did not do the task: {result['answer']}")
    return result


async def delegate_task_async(
    *, workspace_id: str, task: str, source_workspace_id: str | None = None
) -> dict[str, Any]:
    """Gives the task's id and first state at once."""
    source, peer = await _parties(source_workspace_id, workspace_id)
    reply = await _hand_over(source, peer, task, blocking=False)
    return await _settled(source, peer, reply)


async def check_task_status(
    *, workspace_id: str, task_id: str, source_workspace_id: str | None = None
) -> dict[str, Any]:
    """Gives the state that the task has at the peer, with the answer when there is one.

    Only the workspace that delegated a task can ask for it.
    """
    source, peer = await _parties(source_workspace_id, workspace_id)
    return await _settled(source, peer, await a2a.get_task(source, peer, task_id))


async def _parties(source_id: str | None, peer_id: str) -> tuple[Workspace, Workspace]:
    source = await asyncio.to_thread(acting_workspace, source_id)
    return source, await asyncio.to_thread(peer_of, source, peer_id)


async def _hand_over(
    source: Workspace, peer: Workspace, text: str, *, blocking: bool
) -> dict[str, Any]:
    sent_at = store.now()
    reply = await a2a.send_message(source, peer, text, blocking=blocking)

    def note() -> None:
        with store.writing() as db:
            activities.record(db, source.id, "task", "out", peer.id, text, at=sent_at)

    await asyncio.to_thread(note)
    return reply


async def _settled(
    source: Workspace, peer: Workspace, reply: dict[str, Any]
) -> dict[str, Any]:
    """The tool's result; an answer goes into the history once."""
    answer = a2a.text_of(reply)
    if reply["kind"] == "message":
        state, task_id, note_id = "delivered", None, f"{reply['messageId']}-reply"
    else:
        state, task_id, note_id = (
            reply["status"]["state"],
            reply["id"],
            f"{reply['id']}-reply",
        )

    def note(text: str) -> None:
        with store.writing() as db:
            activities.record(
                db, source.id, "reply", "in", peer.id, text, activity_id=note_id
            )

    if answer is not None:
        await asyncio.to_thread(note, answer)
    return {
        "workspace_id": peer.id,
        "task_id": task_id,
        "state": state,
        "answer": answer,
    }
