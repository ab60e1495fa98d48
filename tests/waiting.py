"""Waits for conditions without an event in this process, such as a line in a log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

__all__ = ["wait_until", "wait_until_async"]

_TIMEOUT_S = 60.0
_INTERVAL_S = 0.02


def wait_until(
    condition: Callable[[], object], describe: Callable[[], object] = str
) -> None:
    """Poll a condition; after 60 s, fail with the description of the final state."""
    deadline = time.monotonic() + _TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline, describe()
        time.sleep(_INTERVAL_S)


async def wait_until_async(condition: Callable[[], object]) -> None:
    """Poll a condition for at most 60 s while other tasks run."""
    async with asyncio.timeout(_TIMEOUT_S):
        while not condition():
            await asyncio.sleep(_INTERVAL_S)
