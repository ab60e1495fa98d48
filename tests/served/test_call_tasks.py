"""What a call is run in: a task of its own, which its caller waits for no longer than need be."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry, ToolResponse, current_call

Handler = Callable[[], Awaitable[Any]]
Call = Callable[..., Awaitable[ToolResponse]]
NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")
IS_EAGER = sys.version_info >= (3, 12)


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Calls a tool whose handler is given, which has half a second by default."""

    async def called(handler: Handler, timeout: float = 0.5) -> ToolResponse:
        module = SimpleNamespace(work=handler)
        handler.__module__ = "made_up.handlers"
        monkeypatch.setitem(sys.modules, "made_up.handlers", module)
        tool = definition("work", handler="made_up.handlers:work", timeout=timeout)
        package = Package(tmp_path, tool).load()
        # Two calls of one test are of two registries, each with its own handler.
        return await Registry(package, handlers="made_up").call_tool("work")

    return called


async def rounds_of(call: Awaitable[ToolResponse]) -> int:
    """How often the loop comes round until the call is answered."""
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


async def test_a_handler_that_never_waits_costs_few_rounds(call: Call) -> None:
    async def at_once() -> str:
        return "done"

    rounds = await rounds_of(call(at_once))
    assert rounds == (0 if IS_EAGER else 2)


async def test_who_waits_is_told_in_the_round_in_which_the_handler_ends(
    call: Call,
) -> None:
    async def in_two_rounds() -> str:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return "done"

    rounds = await rounds_of(call(in_two_rounds))
    assert rounds == (3 if IS_EAGER else 4)


async def test_a_handler_has_a_task_of_its_own(call: Call) -> None:
    """So that what it does with its task is nothing to its caller's."""
    seen: list[Any] = []

    async def handler() -> str:
        first = asyncio.current_task()
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(0))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.sleep(10)
        seen.extend((first, asyncio.current_task()))
        return "done"

    caller = asyncio.current_task()
    assert (await call(handler)).result == "done"
    assert seen[0] is seen[1] is not caller
    assert caller is not None and not caller.cancelling()


@pytest.mark.parametrize("rounds", [0, 1])
async def test_a_handler_that_cancels_itself_is_a_cancelled_call(
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


async def test_a_task_that_others_cancel_before_it_has_begun_is_a_cancelled_call(
    call: Call,
) -> None:
    async def handler() -> None:
        await asyncio.sleep(10)

    ours = asyncio.all_tasks()
    calling = asyncio.ensure_future(call(handler, timeout=20.0))
    await asyncio.sleep(0)
    [task] = asyncio.all_tasks() - ours - {calling}
    task.cancel()
    async with asyncio.timeout(10):
        assert (await calling).error == "the call was cancelled"


async def test_a_handler_s_context_is_a_copy_of_its_caller_s(call: Call) -> None:
    seen = []

    async def handler() -> None:
        seen.append(NAME.get())
        NAME.set("the handler's")
        await asyncio.sleep(0)
        seen.append(NAME.get())

    NAME.set("the caller's")
    await call(handler)
    assert seen == ["the caller's", "the handler's"]
    assert NAME.get() == "the caller's"
    with pytest.raises(LookupError):
        current_call()


async def test_a_handler_that_ends_after_its_time_without_a_wait_has_its_answer(
    call: Call,
) -> None:
    async def handler() -> str:
        time.sleep(0.05)
        return "late"

    async def that_waits() -> str:
        await asyncio.sleep(0)
        return await handler()

    for one in (handler, that_waits):
        assert (await call(one, timeout=0.01)).result == "late"


async def test_a_handler_that_does_not_let_itself_be_cancelled_keeps_nobody_waiting(
    call: Call,
) -> None:
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
