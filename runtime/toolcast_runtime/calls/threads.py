"""Threads for the calls of plain functions; one that hangs keeps nobody else from running.

Each call has a thread of its own, up to a number; beyond that a call waits a while for its
turn. The threads are daemons: one that hangs does not keep the process from ending, as the
threads of asyncio's executors and of anyio would.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from .given_up import runs_on
from .tool_response import ToolError

__all__ = ["MOST_THREADS", "Outcome", "in_thread"]

MOST_THREADS = 64
"""Of one event loop, hung ones among them."""

Outcome = tuple[Any, BaseException | None]
"""What a function gave, and what it raised."""

_PATIENCE_SECONDS = 5.0

_places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
    WeakKeyDictionary()
)


async def in_thread(work: Callable[[], Any], name: str = "tool call") -> Outcome:
    """Runs a function in the present context; it never raises what the function raises.

    When the most threads are running already and none ends in a few seconds, the outcome is
    an error that says so. A thread whose call is given up runs on.

    Args:
        work: the function.
        name: the tool's, which the thread is called by, too.
    """
    loop = asyncio.get_running_loop()
    places = _places.setdefault(loop, asyncio.Semaphore(MOST_THREADS))
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await places.acquire()
    except TimeoutError:
        return None, ToolError(
            f"the server is busy with {MOST_THREADS} calls; try again later"
        )
    future: asyncio.Future[Outcome] = loop.create_future()
    context = contextvars.copy_context()
    is_over, ended = False, None

    def finish(outcome: Outcome) -> None:
        nonlocal is_over
        is_over = True
        places.release()
        if ended is not None:
            ended()
        if not future.done():
            future.set_result(outcome)

    def run() -> None:
        try:
            outcome: Outcome = context.run(work), None
        except BaseException as error:
            outcome = None, error
        # The loop may have ended while the function ran on.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(finish, outcome)

    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        return await future
    except asyncio.CancelledError:
        if not is_over:
            ended = runs_on(name)
        raise
