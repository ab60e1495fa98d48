"""Turns for work that keeps an event loop busy, so that others are answered between two."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

__all__ = ["TURNS", "Turns", "turn"]

_PAUSE_SECONDS = 0.002
_LARGE_VALUES = 250
_LARGE_CHARACTERS = 10_000

_Result = TypeVar("_Result")


class Turns:
    """Turns of one event loop.

    Pieces of work that are short by themselves are together as long as there are callers. Here
    each waits for its turn, and between two the loop is free for as long as the one before took,
    up to a moment. One that comes alone waits for nobody.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._free_until = 0.0

    async def wait(self) -> None:
        """Returns when the caller may go on, up to the next thing that it awaits."""
        async with self._lock:
            # What kept the loop until now is over then, and known.
            await asyncio.sleep(0)
            loop = asyncio.get_running_loop()
            rest = self._free_until - loop.time()
            if rest > 0:
                await asyncio.sleep(rest)
            loop.call_soon(self._taken_since, loop.time(), loop)

    def _taken_since(self, started: float, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        self._free_until = now + min(now - started, _PAUSE_SECONDS)

    async def in_thread(self, work: Callable[[], _Result]) -> _Result:
        """What a function gives that runs in a thread, while nothing else has its turn."""
        async with self._lock:
            return await asyncio.to_thread(work)


TURNS: ContextVar[Turns | None] = ContextVar("turns", default=None)
"""Where others wait to be answered, the turns of their event loop."""


async def turn(*values: Any) -> None:
    """Waits for a turn to work on large values; goes on at once with small ones."""
    turns = TURNS.get()
    if turns is not None and any(map(_is_large, values)):
        await turns.wait()


def _is_large(value: Any) -> bool:
    """Whether a value has much in it; what is no JSON, as a date, is one value."""
    values, characters, level = 0, 0, [value]
    while level:
        values += len(level)
        inner: list[Any] = []
        for item in level:
            if isinstance(item, (str, bytes)):
                characters += len(item)
            elif isinstance(item, (dict, list, tuple)):
                # A list that holds itself grows without end.
                if values + len(inner) + len(item) > _LARGE_VALUES:
                    return True
                if isinstance(item, dict):
                    characters += sum(len(n) for n in item if isinstance(n, str))
                    item = item.values()
                inner += item
        if characters > _LARGE_CHARACTERS:
            return True
        level = inner
    return False
