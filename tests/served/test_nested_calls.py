"""Calls that a plain handler makes end with the call that it serves."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry, current_call

HERE = "tests.served.test_inner_calls"
REGISTRIES: list[Registry] = []
ENDED: list[str] = []
BEGUN = threading.Event()


def outer() -> str:
    """Calls another tool, and once more after that was called off."""
    for _ in range(2):
        try:
            REGISTRIES[0].call_tool_sync("inner")
        except Exception as error:
            ENDED.append(type(error).__name__)
    return "done"


def inner() -> str:
    BEGUN.set()
    end = time.monotonic() + 20
    while not current_call().cancelled and time.monotonic() < end:
        time.sleep(0.005)
    ENDED.append("inner")
    return "done"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    """Two tools of which one calls the other."""
    tools = [
        definition("outer", handler=f"{HERE}:outer", timeout=0.5),
        definition("patient", handler=f"{HERE}:outer"),
        definition("inner", handler=f"{HERE}:inner"),
    ]
    REGISTRIES[:] = [
        Registry(Package(tmp_path, *tools).load(), handlers="tests.served")
    ]
    ENDED.clear()
    BEGUN.clear()
    yield REGISTRIES[0]


async def all_ended() -> None:
    end = time.monotonic() + 5
    while len(ENDED) < 3:
        assert time.monotonic() < end, ENDED
        await asyncio.sleep(0.01)
    assert sorted(ENDED) == ["CancelledError", "CancelledError", "inner"]


async def test_when_its_time_is_over(registry: Registry) -> None:
    response = await registry.call_tool("outer")
    assert "did not answer within 0.5 s" in (response.error or "")
    await all_ended()


async def test_when_its_caller_goes(registry: Registry) -> None:
    call = asyncio.ensure_future(registry.call_tool("patient"))
    assert await asyncio.to_thread(BEGUN.wait, 10)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await all_ended()
