"""Nested calls of a synchronous handler, which end with the outer call."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtime.packages import Package, definition
from tests.waiting import wait_until_async
from toolcast_runtime import Registry, current_call

HERE = "tests.served.test_nested_calls"
REGISTRIES: list[Registry] = []
ENDED: list[str] = []
STARTED = threading.Event()


def outer() -> str:
    """Call another tool, and again after the first call was cancelled."""
    for _ in range(2):
        try:
            REGISTRIES[0].call_tool_sync("inner")
        except Exception as error:
            ENDED.append(type(error).__name__)
    return "done"


def inner() -> str:
    STARTED.set()
    end = time.monotonic() + 60
    while not current_call().cancelled and time.monotonic() < end:
        time.sleep(0.005)
    ENDED.append("inner")
    return "done"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    """Yield a registry with a tool whose handler calls another tool."""
    tools = [
        definition("outer", handler=f"{HERE}:outer", timeout=0.5),
        definition("patient", handler=f"{HERE}:outer"),
        definition("inner", handler=f"{HERE}:inner"),
    ]
    REGISTRIES[:] = [
        Registry(Package(tmp_path, *tools).load(), handlers="tests.served")
    ]
    ENDED.clear()
    STARTED.clear()
    yield REGISTRIES[0]


async def assert_inner_calls_cancelled() -> None:
    """Wait until both nested calls were cancelled and their handler has ended."""
    await wait_until_async(lambda: len(ENDED) == 3)
    assert sorted(ENDED) == ["CancelledError", "CancelledError", "inner"]


async def test_synchronous_handler_timeout_cancels_the_tool_calls_the_handler_made(
    registry: Registry,
) -> None:
    response = await registry.call_tool("outer")
    assert "did not answer within 0.5 s" in (response.error or "")
    await assert_inner_calls_cancelled()


async def test_synchronous_handler_cancellation_cancels_the_tool_calls_the_handler_made(
    registry: Registry,
) -> None:
    call = asyncio.ensure_future(registry.call_tool("patient"))
    assert await asyncio.to_thread(STARTED.wait, 10)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await assert_inner_calls_cancelled()
