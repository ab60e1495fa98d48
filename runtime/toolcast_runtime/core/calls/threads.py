"""Threads for the calls of plain functions; one that hangs keeps nobody else from running.

Each call has a thread to itself, up to a number; beyond that a call waits a while for its
turn. A thread whose call has ended takes the next one: to start one takes longer than many a
handler. The threads are daemons: one that hangs does not keep the process from ending, as the
threads of asyncio's executors and of anyio would.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any
from weakref import WeakKeyDictionary

from ..context import ToolError
from .given_up import runs_on

MOST_THREADS = 64
"""Of one event loop, hung ones among them."""

Outcome = tuple[Any, BaseException | None]
"""What a function gave, and what it raised."""

_PATIENCE_SECONDS = 5.0

_Calls = SimpleQueue[tuple[str, Callable[["_Calls"], None]]]
"""What a thread is to run next, with its name."""

# Of threads that wait; the last to come goes first. A forked child has none of them.
_waiting: list[_Calls] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waiting.clear)

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

    def run(calls: _Calls) -> None:
        try:
            outcome: Outcome = context.run(work), None
        except BaseException as error:
            outcome = None, error
        # Before its place is given on, so that there are never more threads than places.
        _waiting.append(calls)
        # The loop may have ended while the function ran on.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(finish, outcome)

    _in_free_thread(name, run)
    try:
        return await future
    except asyncio.CancelledError:
        if not is_over:
            ended = runs_on(name)
        raise


def _in_free_thread(name: str, run: Callable[[_Calls], None]) -> None:
    try:
        calls = _waiting.pop()
    except IndexError:
        calls = SimpleQueue()
        thread = threading.Thread(target=_take_calls, args=(calls,), daemon=True)
        thread.start()
    calls.put((name, run))


def _take_calls(calls: _Calls) -> None:
    thread = threading.current_thread()
    while True:
        thread.name, run = calls.get()
        run(calls)
        # Nothing of a call is kept while the thread waits.
        del run
