"""A coroutine that is started at once is a task like any other."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest

from toolcast_runtime.calls.eager_task import start

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")
seen: list[str] = []


async def finished(started: Any) -> Any:
    return await started if isinstance(started, asyncio.Task) else started


async def test_what_need_not_wait_gives_its_result_at_once() -> None:
    async def quick() -> str:
        return "done"

    assert start(quick()) == "done"
    assert start(quick()) == "done"
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_what_it_raises_is_raised_at_once() -> None:
    async def broken() -> str:
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        start(broken())
    assert asyncio.current_task() is not None


async def test_it_is_one_task_of_its_own_from_its_first_step_to_its_last() -> None:
    async def whoami() -> list[Any]:
        tasks = [asyncio.current_task()]
        for _ in range(3):
            await asyncio.sleep(0)
            tasks.append(asyncio.current_task())
        return tasks

    parent = asyncio.current_task()
    task = start(whoami())
    assert isinstance(task, asyncio.Task)
    assert asyncio.current_task() is parent
    assert set(await task) == {task}


async def test_it_has_a_copy_of_the_context() -> None:
    async def rename() -> tuple[str, str]:
        before = NAME.get()
        NAME.set("inner")
        await asyncio.sleep(0)
        return before, NAME.get()

    NAME.set("outer")
    assert await finished(start(rename())) == ("outer", "inner")
    assert NAME.get() == "outer"


async def test_what_it_waits_for_may_be_done_before_its_next_step() -> None:
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def waits() -> str:
        return await future

    task = start(waits())
    future.set_result("there")
    assert await finished(task) == "there"


async def test_an_exception_of_what_it_waits_for_reaches_it() -> None:
    future: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def waits() -> str:
        try:
            return await future
        except LookupError as error:
            return f"caught {error}"

    task = start(waits())
    future.set_exception(LookupError("it"))
    assert await finished(task) == "caught it"


async def test_cancellation_reaches_it_although_it_has_just_begun() -> None:
    async def waits() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            await asyncio.sleep(0)
            seen.append("cleaned up")
            raise

    seen.clear()
    task = start(waits())
    assert isinstance(task, asyncio.Task)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled", "cleaned up"]


async def test_it_may_cancel_itself_in_its_first_step() -> None:
    async def gives_up() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        try:
            await asyncio.sleep(60)
        finally:
            seen.append("left")

    seen.clear()
    task = start(gives_up())
    assert isinstance(task, asyncio.Task)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["left"]


async def with_timeout() -> str:
    try:
        async with asyncio.timeout(0.001):
            await asyncio.sleep(60)
    except TimeoutError:
        return "timed out"
    return "not"


async def with_task_group() -> str:
    async with asyncio.TaskGroup() as group:
        one = group.create_task(asyncio.sleep(0, "a"))
        two = group.create_task(asyncio.sleep(0, "b"))
    return one.result() + two.result()


async def with_failing_group() -> str:
    async def fail() -> None:
        raise LookupError

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(60))
            group.create_task(fail())
    except ExceptionGroup as errors:
        return type(errors.exceptions[0]).__name__
    return "not"


async def with_cancel_scope() -> str:
    with anyio.move_on_after(0) as at_once:
        await anyio.sleep(60)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await anyio.sleep(60)
    async with anyio.create_task_group() as group:
        group.start_soon(anyio.sleep, 60)
        await anyio.sleep(0)
        group.cancel_scope.cancel()
    return f"{at_once.cancelled_caught} {scope.cancelled_caught}"


async def with_thread() -> int:
    return await anyio.to_thread.run_sync(lambda: 7)


@pytest.mark.parametrize(
    ("work", "gives"),
    [
        (with_timeout, "timed out"),
        (with_task_group, "ab"),
        (with_failing_group, "LookupError"),
        (with_cancel_scope, "True True"),
        (with_thread, 7),
    ],
)
async def test_whatever_looks_for_its_task_finds_it(
    work: Callable[[], Coroutine[Any, Any, Any]], gives: Any
) -> None:
    assert await finished(start(work())) == gives


async def test_a_scope_around_it_ends_it() -> None:
    async def waits() -> None:
        try:
            await anyio.sleep(60)
        finally:
            seen.append("ended")

    seen.clear()
    with anyio.move_on_after(0.001) as scope:
        task = start(waits())
        assert isinstance(task, asyncio.Task)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            raise
    assert scope.cancelled_caught
    await asyncio.wait({task})
    assert seen == ["ended"]


def test_a_loop_that_ends_with_it_leaves_no_warning(
    recwarn: pytest.WarningsRecorder,
) -> None:
    async def quick() -> int:
        return 1

    async def main() -> int:
        start(quick())
        start(asyncio.sleep(60))
        return 3

    assert asyncio.run(main()) == 3
    assert [str(warning.message) for warning in recwarn] == []
