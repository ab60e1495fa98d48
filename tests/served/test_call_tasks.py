"""Tasks of handlers: rounds, cancellation, context, timeout and nested calls."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.runtime.packages import Package, definition
from tests.waiting import wait_until_async
from toolcast_runtime import Registry, ToolResponse, current_call

Handler = Callable[[], Awaitable[Any]]
Call = Callable[..., Awaitable[ToolResponse]]
CONTEXT_NAME = contextvars.ContextVar("name", default="unknown")
IS_EAGER = sys.version_info >= (3, 12)


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Return a function that calls a tool with a handler and a timeout."""

    async def call_handler(handler: Handler, timeout: float = 0.5) -> ToolResponse:
        module = SimpleNamespace(work=handler)
        handler.__module__ = "made_up.handlers"
        monkeypatch.setitem(sys.modules, "made_up.handlers", module)
        tool = definition("work", handler="made_up.handlers:work", timeout=timeout)
        package = Package(tmp_path, tool).load()
        # Each call has its own registry, which loads the new handler.
        return await Registry(package, handlers="made_up").call_tool("work")

    return call_handler


async def count_rounds(call: Awaitable[ToolResponse]) -> int:
    """Return the number of event loop rounds until a call is answered."""
    loop, rounds = asyncio.get_running_loop(), -1

    def count() -> None:
        nonlocal rounds
        rounds += 1
        handles.append(loop.call_soon(count))

    handles: list[asyncio.Handle] = []
    count()
    response = await call
    handles[-1].cancel()
    assert response.error is None
    return rounds


@pytest.mark.parametrize(
    ("awaits", "rounds"), [(0, 0 if IS_EAGER else 2), (2, 3 if IS_EAGER else 4)]
)
async def test_call_is_answered_in_the_event_loop_round_in_which_its_handler_ends(
    call: Call, awaits: int, rounds: int
) -> None:
    """Its task needs two rounds, or none with the eager tasks of Python 3.12."""

    async def handler() -> str:
        for _ in range(awaits):
            await asyncio.sleep(0)
        return "done"

    assert await count_rounds(call(handler)) == rounds


async def test_async_handler_runs_in_a_separate_task(call: Call) -> None:
    """Task groups and timeouts in the handler must not affect the caller's task."""
    tasks: list[Any] = []

    async def handler() -> str:
        first = asyncio.current_task()
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(0))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.sleep(10)
        tasks.extend((first, asyncio.current_task()))
        return "done"

    caller = asyncio.current_task()
    assert (await call(handler)).result == "done"
    assert tasks[0] is tasks[1] is not caller
    assert caller is not None and not caller.cancelling()


@pytest.mark.parametrize("rounds", [0, 1])
async def test_async_handler_that_cancels_its_own_task_raises_cancelled_call_error(
    call: Call, rounds: int
) -> None:
    async def handler() -> None:
        for _ in range(rounds):
            await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    assert (await call(handler)).error == "the call was cancelled"


async def test_handler_task_cancelled_before_its_start_raises_cancelled_call_error(
    call: Call,
) -> None:
    async def handler() -> None:
        await asyncio.sleep(10)

    existing = asyncio.all_tasks()
    calling = asyncio.ensure_future(call(handler, timeout=20.0))
    await asyncio.sleep(0)
    [task] = asyncio.all_tasks() - existing - {calling}
    task.cancel()
    async with asyncio.timeout(10):
        assert (await calling).error == "the call was cancelled"


async def test_async_handler_runs_in_a_caller_context_copy(call: Call) -> None:
    """Context variables that the handler sets do not change for the caller."""
    values = []

    async def handler() -> None:
        values.append(CONTEXT_NAME.get())
        CONTEXT_NAME.set("the handler's")
        await asyncio.sleep(0)
        values.append(CONTEXT_NAME.get())

    CONTEXT_NAME.set("the caller's")
    await call(handler)
    assert values == ["the caller's", "the handler's"]
    assert CONTEXT_NAME.get() == "the caller's"
    with pytest.raises(LookupError):
        current_call()


async def test_blocking_async_handler_is_answered_with_its_result_after_its_timeout(
    call: Call,
) -> None:
    """Timeouts cannot interrupt a blocking handler, so its result is returned."""

    async def handler() -> str:
        time.sleep(0.05)
        return "late"

    async def handler_with_await() -> str:
        await asyncio.sleep(0)
        return await handler()

    for function in (handler, handler_with_await):
        assert (await call(function, timeout=0.01)).result == "late"


async def test_async_handler_that_ignores_cancellation_does_not_block_its_caller(
    call: Call,
) -> None:
    """Callers get their timeout or cancellation while the handler still runs."""
    is_over = asyncio.Event()

    async def stubborn() -> None:
        while not is_over.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await is_over.wait()

    response = await call(stubborn, timeout=0.05)
    assert response.error == "the tool did not answer within 0.05 s"
    calling = asyncio.ensure_future(call(stubborn, timeout=20.0))
    for _ in range(3):
        await asyncio.sleep(0)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    is_over.set()


HERE = "tests.served.test_call_tasks"
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
