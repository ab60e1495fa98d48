"""What counts as large, so that it waits for its turn, and how long the turn of one keeps others."""

from __future__ import annotations

import asyncio
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.http.fairness import Turns


class _Noted(Turns):
    waited = 0

    async def wait(self) -> None:
        self.waited += 1


class _Slotted:
    __slots__ = ("__dict__", "text", "unset")

    def __init__(self, text: str, **others: Any) -> None:
        self.text = text
        vars(self).update(others)


class _OneSlot:
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
        (_Slotted("a"), False),
        (_Slotted(_TEXT), True),
        (_Slotted("a", other=_TEXT), True),
        (_Slotted("a", **{f"n{number}": 1 for number in range(248)}), False),
        (_Slotted("a", **{f"n{number}": 1 for number in range(249)}), True),
        (_OneSlot(_TEXT), True),
        (SimpleNamespace(text=_TEXT), True),
        (SimpleNamespace(text="a"), False),
    ],
)
async def test_large_arguments_wait_for_their_turn(value: Any, is_large: bool) -> None:
    turns = _Noted()
    await turns.wait_for(1, value)
    assert turns.waited == is_large


@pytest.mark.parametrize(("characters", "is_large"), [(100_000, 0), (100_001, 1)])
async def test_an_answer_may_have_longer_texts(characters: int, is_large: int) -> None:
    turns = _Noted()
    await turns.wait_for_answer("a" * characters)
    assert turns.waited == is_large


@pytest.mark.parametrize(("is_busy", "rounds"), [(False, 1), (True, 5)])
async def test_a_turn_comes_after_five_rounds_of_the_loop_at_the_latest(
    is_busy: bool, rounds: int
) -> None:
    turns = Turns()
    turns._free_until = float("inf") if is_busy else 0.0
    waiting = asyncio.ensure_future(turns.wait())
    await asyncio.sleep(0)
    gone = 0
    while not waiting.done():
        await asyncio.sleep(0)
        gone += 1
    assert gone == rounds


@pytest.mark.parametrize(("took", "free"), [(0.001, 0.001), (0.002, 0.002), (3, 0.002)])
def test_the_loop_is_free_for_as_long_as_the_last_turn_took(
    took: float, free: float
) -> None:
    """Up to two milliseconds."""
    turns, loop = Turns(), SimpleNamespace(time=lambda: 100.0)
    turns._end_turn(100.0 - took, loop)  # type: ignore[arg-type]
    assert turns._free_until == pytest.approx(100 + free)
