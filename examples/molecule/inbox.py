"""Handlers of the inbox: wait_for_message, inbox_peek and inbox_pop."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from examples.molecule import activities
from examples.molecule.registry import get_acting_workspace

__all__ = ["inbox_peek", "inbox_pop", "wait_for_message"]

POLL_INTERVAL_S = 0.2


async def wait_for_message(*, timeout_secs: float = 60) -> dict[str, Any]:
    """Return the oldest message in the inbox, or wait for one until the timeout.

    The message stays in the inbox until `inbox_pop` removes it, so that it is not lost
    if the caller fails while it handles the message.
    """
    own = await asyncio.to_thread(get_acting_workspace, None)
    deadline = time.monotonic() + timeout_secs
    while True:
        messages = await asyncio.to_thread(activities.list_pending, own.id, 1)
        if messages:
            return {"timed_out": False, "message": messages[0].as_message()}
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return {"timed_out": True, "message": None}
        await asyncio.sleep(min(POLL_INTERVAL_S, remaining))


def inbox_peek(*, limit: int = 10) -> dict[str, Any]:
    """Return the oldest messages in the inbox without changing it."""
    own = get_acting_workspace(None)
    messages = activities.list_pending(own.id, limit)
    return {"messages": [activity.as_message() for activity in messages]}


def inbox_pop(*, activity_id: str) -> dict[str, Any]:
    """Remove a message from the inbox; `removed` is False if it was not there."""
    own = get_acting_workspace(None)
    removed = activities.mark_handled(own.id, activity_id)
    return {"activity_id": activity_id, "removed": removed}
