"""Handlers that run on although their calls were given up: counted, logged, bounded.

An async handler may go on after it was cancelled, and a thread cannot be stopped. Without a
bound, calls of a tool that hangs would use up what all tools share.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

_logger = logging.getLogger("toolcast")

MOST_GIVEN_UP = 16
"""Calls of one tool that run on, before its further calls are refused."""

_PATIENCE_SECONDS = 10.0
"""How long a handler may take to end before the log is told."""

_LOOK_SECONDS = 0.02

_running: WeakKeyDictionary[asyncio.AbstractEventLoop, Counter[str]] = (
    WeakKeyDictionary()
)
# The loop itself keeps no task alive.
_tasks: set[asyncio.Task[Any]] = set()


def is_stuck(name: str) -> bool:
    """Whether too many calls of a tool run on in this loop."""
    if not _running:
        return False
    running = _running.get(asyncio.get_running_loop())
    return running is not None and running[name] >= MOST_GIVEN_UP


def runs_on(name: str) -> Callable[[], None]:
    """Takes note of a call of a tool; what it gives is called, in the loop, at its end."""
    loop = asyncio.get_running_loop()
    running = _running.setdefault(loop, Counter())
    running[name] += 1
    timer = loop.call_later(_PATIENCE_SECONDS, _tell, name, running)

    def ended() -> None:
        timer.cancel()
        running[name] -= 1
        if not running[name]:
            del running[name]
            if not running:
                _running.pop(loop, None)

    return ended


def give_up(name: str, task: asyncio.Task[Any]) -> None:
    """Cancels the work of a call, and takes note of it until it has ended."""
    task.cancel()
    _tasks.add(task)
    ended = runs_on(name)

    def done(task: asyncio.Task[Any]) -> None:
        _tasks.discard(task)
        ended()
        if not task.cancelled():
            task.exception()  # nobody waits for it

    task.add_done_callback(done)


async def until_ended(seconds: float) -> None:
    """Returns when nothing runs on in this loop, or the time is over."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    # What was cancelled a moment ago takes note of it when it has its turn.
    await asyncio.sleep(_LOOK_SECONDS)
    while _running.get(loop) and loop.time() < deadline:
        await asyncio.sleep(_LOOK_SECONDS)


def _tell(name: str, running: Counter[str]) -> None:
    _logger.warning(
        "a handler of %s still runs %g s after its call was given up; %d of its calls do,"
        " and at %d further ones are refused",
        name,
        _PATIENCE_SECONDS,
        running[name],
        MOST_GIVEN_UP,
    )
