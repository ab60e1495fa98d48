"""Threads for the calls of plain functions; one that hangs keeps nobody else from running.

A thread that has finished waits a while for the next call, because starting one costs more
than most calls do. A call takes a thread that waits, or a new one, so that a function which
hangs holds up no other; only when the most are running does it wait, for a while, in turn. All
are daemons, which do not keep the process from ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from .tool_response import ToolError

__all__ = ["MOST_THREADS", "Outcome", "in_thread"]

MOST_THREADS = 64

Outcome = tuple[Any, BaseException | None]
"""What a function gave, and what it raised."""

_IDLE_SECONDS = 10.0
_PATIENCE_SECONDS = 5.0
_Work = Callable[[], None]

_places = threading.BoundedSemaphore(MOST_THREADS)
_waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()
_order = threading.Lock()
_idle: list[_Worker] = []


class _Worker:
    """A thread that runs one piece of work at a time, and ends when none comes."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[_Work] = queue.SimpleQueue()

    def give(self, work: _Work) -> None:
        """Lets the thread run a piece of work; it must be idle, or not yet started."""
        self._work.put(work)

    def start(self) -> None:
        """Starts the thread."""
        threading.Thread(target=self._run, name="tool call", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                work = self._work.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                try:
                    _idle.remove(self)
                except ValueError:
                    # Somebody has just taken it, and is about to give it work.
                    continue
                return
            work()
            # What the work refers to is not kept while the thread is idle.
            del work


async def in_thread(work: Callable[[], Any]) -> Outcome:
    """Runs a function in the present context; it never raises what the function raises.

    When the most threads are running already, hung ones among them, and none becomes free
    in a few seconds, the outcome is an error that says so.
    """
    places = _places
    if not (places.acquire(blocking=False) or await _place(places)):
        return None, ToolError(
            f"the server is busy with {MOST_THREADS} calls; try again later"
        )
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Outcome] = loop.create_future()
    context = contextvars.copy_context()
    worker = _taken()

    def finish(outcome: Outcome) -> None:
        if not future.done():
            future.set_result(outcome)

    def run() -> None:
        try:
            outcome: Outcome = context.run(work), None
        except BaseException as error:
            outcome = None, error
        _idle.append(worker)
        _leave(places)
        # The loop may have ended while the function ran on.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(finish, outcome)

    worker.give(run)
    return await future


async def _place(places: threading.BoundedSemaphore) -> bool:
    """Waits in turn for a place; False when there was none in time."""
    loop = asyncio.get_running_loop()
    given: asyncio.Future[None] = loop.create_future()
    with _order:
        if places.acquire(blocking=False):
            return True
        _waiting.append((loop, given))
    try:
        await asyncio.wait_for(given, _PATIENCE_SECONDS)
    except TimeoutError:
        return False
    except asyncio.CancelledError:
        if given.done() and not given.cancelled():
            _leave(places)
        raise
    return True


def _leave(places: threading.BoundedSemaphore) -> None:
    """Gives a place to whoever waits longest, or back."""

    def hand(given: asyncio.Future[None]) -> None:
        if given.done():
            _leave(places)  # it has gone meanwhile
        else:
            given.set_result(None)

    with _order:
        while _waiting:
            loop, given = _waiting.popleft()
            # A loop that has ended waits for nothing.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(hand, given)
                return
        places.release()


def _taken() -> _Worker:
    """The thread that became idle last, or a new one."""
    try:
        return _idle.pop()
    except IndexError:
        worker = _Worker()
        worker.start()
        return worker


def _forget() -> None:
    """A forked child has none of the threads."""
    global _places, _order
    _order = threading.Lock()
    _waiting.clear()
    _places = threading.BoundedSemaphore(MOST_THREADS)
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
