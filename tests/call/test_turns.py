"""Who has to wait for a turn of the event loop, and who goes on at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from toolcast_runtime.calls.turns import TURNS, Turns, turn

LOOP: list[Any] = []
LOOP.append(LOOP)


@dataclass
class Visit:
    start: datetime


def needs_none(waiting: Coroutine[Any, Any, None]) -> bool:
    """Whether it ends without giving the loop to anybody."""
    try:
        waiting.send(None)
    except StopIteration:
        return True
    waiting.close()
    return False


@pytest.mark.parametrize(
    "value",
    [
        None,
        {"text": "x" * 9_000},
        [1.5] * 200,
        # What a handler gives becomes JSON afterwards.
        {"start": datetime(2026, 11, 23, tzinfo=UTC), "day": date(2026, 11, 23)},
        [UUID(int=7), Decimal("1.50"), timedelta(hours=1), b"bytes", {1, 2}],
        [Visit(datetime(2026, 11, 23, tzinfo=UTC))],
        {1: "a name that is no text"},
    ],
    ids=repr,
)
async def test_small_values_need_no_turn(value: Any) -> None:
    TURNS.set(Turns())
    assert needs_none(turn(value))


@pytest.mark.parametrize(
    "value",
    [
        {"text": "x" * 10_001},
        b"x" * 10_001,
        {"name " * 2_001: 1},
        [1.5] * 251,
        [{"id": 1, "day": date(2026, 11, 23)}] * 100,
        {str(number): number for number in range(251)},
        LOOP,
    ],
    ids=lambda value: repr(value)[:30],
)
async def test_large_values_need_one(value: Any) -> None:
    TURNS.set(Turns())
    assert not needs_none(turn(value))


async def test_between_two_the_loop_is_free_for_as_long_as_the_first_took() -> None:
    turns, order = Turns(), list[str]()

    async def large(name: str) -> None:
        await turns.wait()
        order.append(name)
        time.sleep(0.005)

    async def small() -> None:
        for number in range(4):
            order.append(f"small {number}")
            await asyncio.sleep(0)

    await asyncio.gather(large("first"), large("second"), small())
    assert order == ["small 0", "first", "small 1", "small 2", "small 3", "second"]


async def test_one_that_comes_alone_waits_for_nobody() -> None:
    turns, rounds = Turns(), 0

    async def count() -> None:
        nonlocal rounds
        while True:
            rounds += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    for _ in range(3):
        await asyncio.sleep(0.005)
        before = rounds
        await turns.wait()
        assert rounds - before <= 1
    counting.cancel()
