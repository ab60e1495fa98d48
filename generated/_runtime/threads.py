"""A thread for each call of a plain function.

A pool would do for functions that return. One that hangs would keep its place in the pool
for ever, and with it the process from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any

from .tool_response import ToolError

__all__ = ["MOST_THREADS", "Outcome", "in_thread"]

MOST_THREADS = 64

Outcome = tuple[Any, BaseException | None]
"""What a function gave, and what it raised."""

_places = threading.BoundedSemaphore(MOST_THREADS)


async def in_thread(work: Callable[[], Any]) -> Outcome:
    """Runs a function in the present context; it never raises what the function raises.

    When the most threads are running already, hung ones among them, the outcome is an
    error that says so.
    """
    if not _places.acquire(blocking=False):
        return None, ToolError(
            f"the server is busy with {MOST_THREADS} calls; try again later"
        )
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome] = loop.create_future()
    context = contextvars.copy_context()

    def finish(outcome: Outcome) -> None:
        if not future.done():
            future.set_result(outcome)

    def run() -> None:
        try:
            outcome: Outcome = context.run(work), None
        except BaseException as error:
            outcome = None, error
        finally:
            _places.release()
        # The loop may have ended while the function ran on.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(finish, outcome)

    threading.Thread(target=run, name="tool call", daemon=True).start()
    return await future
