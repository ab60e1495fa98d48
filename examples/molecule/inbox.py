"""Handlers of the inbox: wait for a message, look at what waits, drop what is done."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from examples.molecule import activities
from examples.molecule.registry import acting_workspace

__all__ = ["inbox_peek", "inbox_pop", "wait_for_message"]

POLL_SECONDS = 0.2


async def wait_for_message(*, timeout_secs: float = 60) -> dict[str, Any]:
    """Gives the oldest message that waits, as soon as there is one; None in time's end.

    The message stays in the inbox until inbox_pop drops it, so that one whose handling
    breaks off is not lost.
    """
    own = await asyncio.to_thread(acting_workspace, None)
    deadline = time.monotonic() + timeout_secs
    while True:
        waiting = await asyncio.to_thread(activities.pending, own.id, 1)
        if waiting:
            return {"timed_out": False, "message": waiting[0].as_message()}
        left = deadline - time.monotonic()
        if left <= 0:
            return {"timed_out": True, "message": None}
        await asyncio.sleep(min(POLL_SECONDS, left))


def inbox_peek(*, limit: int = 10) -> dict[str, Any]:
    """Gives the oldest messages that wait, and changes nothing."""
    own = acting_workspace(None)
    waiting = activities.pending(own.id, limit)
    return {"messages": [activity.as_message() for activity in waiting]}


def inbox_pop(*, activity_id: str) -> dict[str, Any]:
    """Drops a message that is handled; `removed` is False when it was not there."""
    own = acting_workspace(None)
    removed = activities.resolve(own.id, activity_id)
    return {"activity_id": activity_id, "removed": removed}
