"""Sizes from which values wait for a turn of the event loop, and how long they wait."""

from __future__ import annotations

import asyncio
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.http.fairness import Turns


class CountingTurns(Turns):
    wait_count = 0

    async def wait(self) -> None:
        self.wait_count += 1


class SlotsWithDict:
    __slots__ = ("__dict__", "text", "unset")

    def __init__(self, text: str, **others: Any) -> None:
        self.text = text
        vars(self).update(others)


class SingleSlot:
    __slots__ = "text"

    def __init__(self, text: str) -> None:
        self.text = text


_TEXT = "a" * 10_001


@pytest.mark.parametrize(
    ("value", "is_large"),
    [
        (None, False),
        (10**30, False),
        ("a" * 10_000, False),
        (_TEXT, True),
        (b"a" * 10_001, True),
        (["a" * 5_000, "a" * 5_000], False),
        (["a" * 5_000, "a" * 5_001], True),
        ([1] * 250, False),
        ([1] * 251, True),
        ((1,) * 251, True),
        (set(range(251)), True),
        ([[1] * 124, [1] * 124], False),
        ([[1] * 124, [1] * 125], True),
        (dict.fromkeys(map(str, range(250))), False),
        (dict.fromkeys(map(str, range(251))), True),
        ({_TEXT: 1}, True),
        ({"a": {"b": _TEXT}}, True),
        (MappingProxyType({"a": _TEXT}), True),
        (SlotsWithDict("a"), False),
        (SlotsWithDict(_TEXT), True),
        (SlotsWithDict("a", other=_TEXT), True),
        (SlotsWithDict("a", **{f"n{number}": 1 for number in range(248)}), False),
        (SlotsWithDict("a", **{f"n{number}": 1 for number in range(249)}), True),
        (SingleSlot(_TEXT), True),
        (SimpleNamespace(text=_TEXT), True),
        (SimpleNamespace(text="a"), False),
    ],
)
async def test_large_tool_arguments_wait_for_an_event_loop_turn(
    value: Any, is_large: bool
) -> None:
    """Large means more than 10,000 characters or 250 values."""
    turns = CountingTurns()
    await turns.wait_for(1, value)
    assert turns.wait_count == is_large


@pytest.mark.parametrize(("characters", "is_large"), [(100_000, 0), (100_001, 1)])
async def test_tool_results_over_100000_characters_wait_for_an_event_loop_turn(
    characters: int, is_large: int
) -> None:
    turns = CountingTurns()
    await turns.wait_for_answer("a" * characters)
    assert turns.wait_count == is_large


@pytest.mark.parametrize(("is_busy", "iterations"), [(False, 1), (True, 5)])
async def test_large_value_turn_starts_after_at_most_five_event_loop_iterations(
    is_busy: bool, iterations: int
) -> None:
    """When the loop is not busy, it starts after one iteration."""
    turns = Turns()
    turns._free_until = float("inf") if is_busy else 0.0
    waiting = asyncio.ensure_future(turns.wait())
    await asyncio.sleep(0)
    count = 0
    while not waiting.done():
        await asyncio.sleep(0)
        count += 1
    assert count == iterations


@pytest.mark.parametrize(
    ("duration", "pause"), [(0.001, 0.001), (0.002, 0.002), (3, 0.002)]
)
def test_pause_between_large_values_is_last_duration_up_to_two_milliseconds(
    duration: float, pause: float
) -> None:
    turns, loop = Turns(), SimpleNamespace(time=lambda: 100.0)
    turns._end_turn(100.0 - duration, loop)  # type: ignore[arg-type]
    assert turns._free_until == pytest.approx(100 + pause)
