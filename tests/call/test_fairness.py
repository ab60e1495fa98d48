"""Fairness on the event loop: processing of large values waits for a turn, of small values not."""

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


def make_circular_list() -> list[Any]:
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
    make_circular_list(),
]


async def has_waited(*values: Any, is_answer: bool = False) -> bool:
    """Return whether work on these values waited for a turn."""
    count = 0

    class CountingTurns(Turns):
        async def wait(self) -> None:
            nonlocal count
            count += 1

    turns = CountingTurns()
    await (turns.wait_for_answer if is_answer else turns.wait_for)(*values)
    return count == 1


@pytest.mark.parametrize("value", SMALL, ids=lambda value: type(value).__name__)
async def test_small_arguments_and_results_do_not_wait_for_a_large_values_turn(
    value: Any,
) -> None:
    assert not await has_waited(value)


@pytest.mark.parametrize("value", LARGE, ids=lambda value: type(value).__name__)
async def test_large_arguments_wait_for_a_turn_even_next_to_small_ones(
    value: Any,
) -> None:
    """Large values have more than 10,000 characters or 250 items."""
    assert await has_waited(value)
    assert await has_waited("small", value)


async def test_results_wait_for_a_turn_only_from_a_larger_size_than_arguments() -> None:
    """A text of 50,000 characters waits as an argument, but not as a result."""
    text = "x" * 50_000
    assert await has_waited({"text": text})
    assert not await has_waited({"text": text}, is_answer=True)
    assert await has_waited({"text": text * 3}, is_answer=True)


async def test_second_large_value_waits_while_small_calls_run_as_long_as_the_first_took() -> (
    None
):
    turns, order = Turns(), list[str]()

    async def run_large(name: str) -> None:
        await turns.wait()
        order.append(name)
        time.sleep(0.005)

    async def run_small() -> None:
        for number in range(4):
            order.append(f"small {number}")
            await asyncio.sleep(0)

    await asyncio.gather(run_large("first"), run_large("second"), run_small())
    assert order == ["small 0", "first", "small 1", "small 2", "small 3", "second"]


async def test_wait_for_a_turn_ends_at_once_if_5_ms_passed_since_the_previous_turn() -> (
    None
):
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
