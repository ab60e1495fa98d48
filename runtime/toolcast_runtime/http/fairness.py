"""Fair scheduling of CPU-heavy steps, with time for other requests between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

_MAX_PAUSE_S = 0.002
"""Maximum time between two turns that is left to other requests."""

_MAX_PAUSE_ROUNDS = 5
"""Maximum number of event loop iterations that a caller waits for its turn."""

_MAX_SMALL_VALUES = 250
_MAX_SMALL_CHARACTERS = 10_000

_MAX_SMALL_RESULT_CHARACTERS = 100_000
"""Length up to which a result counts as small.

Encoding a longer result takes about as long as a whole call.
"""

_SCALAR_TYPES = {bool, int, float, type(None)}
_CONTAINER_TYPES = (list, tuple, Mapping, Set)
_Result = TypeVar("_Result")


class Turns:
    """Turns for CPU-heavy steps in one event loop.

    Steps that are short individually would together block the loop for as long as there are
    callers. Each step therefore waits for its turn, and after a turn the loop is left to other
    tasks for as long as the turn took (at most 2 ms or five iterations of the loop). A caller
    waits for no other task if it is the only one.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        # Use a separate thread, because the threads of the loop's default executor may all be
        # busy, for example with resolving host names.
        self._thread = ThreadPoolExecutor(1, "large bodies")
        self._free_until = 0.0

    async def wait(self) -> None:
        """Wait for the caller's turn, which lasts until it next yields to the event loop."""
        async with self._lock:
            loop = asyncio.get_running_loop()
            # Wait by iterations of the loop, not by time: iterations take no time while the
            # loop has nothing else to do.
            for _ in range(_MAX_PAUSE_ROUNDS):
                # This iteration also runs `_end_turn` of the previous turn, which updates
                # `_free_until`.
                await asyncio.sleep(0)
                if loop.time() >= self._free_until:
                    break
            loop.call_soon(self._end_turn, loop.time(), loop)

    def _end_turn(self, started: float, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        self._free_until = now + min(now - started, _MAX_PAUSE_S)

    async def wait_for(self, *values: Any) -> None:
        """Wait for a turn if any of the arguments is large; otherwise return at once."""
        if any(_is_large(value, _MAX_SMALL_CHARACTERS) for value in values):
            await self.wait()

    async def wait_for_answer(self, *values: Any) -> None:
        """Wait for a turn if a part of a result is large; otherwise return at once.

        Results may have longer strings than arguments before they count as large.
        """
        if any(_is_large(value, _MAX_SMALL_RESULT_CHARACTERS) for value in values):
            await self.wait()

    async def run_in_thread(self, work: Callable[[], _Result]) -> _Result:
        """Run a function in a thread as one turn, and return its result."""
        async with self._lock:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, work)


def _is_large(value: Any, max_characters: int) -> bool:
    """Return whether a value has more than 250 nested values or too many characters.

    Counting stops at the limit. The value may be any object that a handler returns.
    """
    values = characters = 0
    unvisited = [value]
    while unvisited:
        item = unvisited.pop()
        if isinstance(item, (str, bytes)):
            characters += len(item)
            if characters > max_characters:
                return True
            continue
        if type(item) in _SCALAR_TYPES:
            continue
        children = item if isinstance(item, _CONTAINER_TYPES) else _get_attributes(item)
        values += len(children)
        if values > _MAX_SMALL_VALUES:
            return True
        unvisited.extend(children)
        if isinstance(children, Mapping):
            unvisited.extend(children.values())
    return False


def _get_attributes(item: Any) -> list[Any]:
    slots = getattr(type(item), "__slots__", ())
    names = (slots,) if isinstance(slots, str) else slots
    values = [getattr(item, name, None) for name in names if name != "__dict__"]
    return [*values, *getattr(item, "__dict__", {}).values()]
