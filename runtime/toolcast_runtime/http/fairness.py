"""Work that keeps the event loop busy takes turns, so that others are answered between two."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

_PAUSE_SECONDS = 0.002
_ROUNDS = 5
_LARGE_VALUES = 250
_LARGE_CHARACTERS = 10_000
_LARGE_ANSWER = 100_000
"""Characters; beyond that an answer takes as long as a call by itself."""
_ONE_VALUE = {bool, int, float, type(None)}
_HOLDING = (list, tuple, Mapping, Set)
_Result = TypeVar("_Result")


class Turns:
    """Turns of one event loop.

    Pieces of work that are short by themselves are together as long as there are callers. Here
    each waits for its turn, and between two the loop is free for as long as the one before took,
    up to a moment or some rounds. One that comes alone waits for nobody.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        # Those of the loop are taken while names of others cannot be resolved.
        self._thread = ThreadPoolExecutor(1, "large bodies")
        self._free_until = 0.0

    async def wait(self) -> None:
        """Returns when the caller may go on, up to the next thing that it awaits."""
        async with self._lock:
            loop = asyncio.get_running_loop()
            # Rounds of the loop and no sleep: while nobody else has work, they take no time.
            for _ in range(_ROUNDS):
                # What kept the loop until now is over then, and known.
                await asyncio.sleep(0)
                if loop.time() >= self._free_until:
                    break
            loop.call_soon(self._taken_since, loop.time(), loop)

    def _taken_since(self, started: float, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        self._free_until = now + min(now - started, _PAUSE_SECONDS)

    async def wait_for(self, *values: Any) -> None:
        """Waits for a turn to work on large arguments; goes on at once with small ones."""
        if any(_is_large(value, _LARGE_CHARACTERS) for value in values):
            await self.wait()

    async def wait_for_answer(self, *values: Any) -> None:
        """The same for what an answer is made of, which takes longer texts."""
        if any(_is_large(value, _LARGE_ANSWER) for value in values):
            await self.wait()

    async def in_thread(self, work: Callable[[], _Result]) -> _Result:
        """What a function gives that runs in a thread, while nothing else has its turn."""
        async with self._lock:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, work)


def _is_large(value: Any, most: int) -> bool:
    """Looks at no more values than a small one has; a handler may give any object."""
    values = characters = 0
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, (str, bytes)):
            characters += len(item)
            if characters > most:
                return True
            continue
        if type(item) in _ONE_VALUE:
            continue
        held = item if isinstance(item, _HOLDING) else _attributes(item)
        values += len(held)
        if values > _LARGE_VALUES:
            return True
        left.extend(held)
        if isinstance(held, Mapping):
            left.extend(held.values())
    return False


def _attributes(item: Any) -> list[Any]:
    slots = getattr(type(item), "__slots__", ())
    names = (slots,) if isinstance(slots, str) else slots
    values = [getattr(item, name, None) for name in names if name != "__dict__"]
    return [*values, *getattr(item, "__dict__", {}).values()]
