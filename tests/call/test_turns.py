"""Who waits for a turn: work on large values, whatever they are made of."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from toolcast_runtime.http.fairness import Turns

NOW = datetime.now(UTC)


@dataclass
class Visit:
    start: datetime = NOW
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Small:
    numbers: tuple[int, ...] = ()


class Form(BaseModel):
    price: Decimal = Decimal("1.5")
    lines: tuple[str, ...] = ()


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


SMALL = [
    None,
    "a text",
    NOW,
    [{"visit_id": 1, "start": NOW}],
    Visit(),
    Form(),
    b"bytes",
    [Small()],
    object(),
]
LARGE = [
    "x" * 10_001,
    b"x" * 10_001,
    {"x" * 10_001: 1},
    list(range(251)),
    {str(number): NOW for number in range(251)},
    [Visit() for _ in range(200)],
    Visit(notes=["x"] * 251),
    Form(lines=("x" * 6_000, "x" * 6_000)),
    [[Small()] * 100] * 3,
    Small(numbers=(1,) * 251),
    Open.model_validate({"more": ["x"] * 251}),
    endless(),
]


async def waited(*values: Any, is_answer: bool = False) -> bool:
    count = 0

    class Counted(Turns):
        async def wait(self) -> None:
            nonlocal count
            count += 1

    turns = Counted()
    await (turns.wait_for_answer if is_answer else turns.wait_for)(*values)
    return count == 1


@pytest.mark.parametrize("value", SMALL, ids=lambda value: type(value).__name__)
async def test_work_on_small_values_goes_on_at_once(value: Any) -> None:
    assert not await waited(value)


@pytest.mark.parametrize("value", LARGE, ids=lambda value: type(value).__name__)
async def test_work_on_large_values_waits(value: Any) -> None:
    assert await waited(value)
    assert await waited("small", value)


async def test_long_texts_of_an_answer_wait_later_than_those_of_arguments() -> None:
    text = "x" * 50_000
    assert await waited({"text": text})
    assert not await waited({"text": text}, is_answer=True)
    assert await waited({"text": text * 3}, is_answer=True)


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
