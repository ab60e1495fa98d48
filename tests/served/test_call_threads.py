"""Threads of plain handlers are used again, and a hung one holds up nobody."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time
from collections.abc import Iterator

import pytest

from toolcast_runtime.calls import threads
from toolcast_runtime.calls.threads import MOST_THREADS, in_thread

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name")


@pytest.fixture(autouse=True)
def no_threads_before() -> Iterator[None]:
    threads._forget()
    yield
    threads._forget()


async def test_calls_one_after_the_other_take_one_thread() -> None:
    idents = {(await in_thread(threading.get_ident))[0] for _ in range(20)}
    assert len(idents) == 1
    assert threading.get_ident() not in idents


async def test_every_hung_call_keeps_a_thread_of_its_own() -> None:
    release = threading.Event()
    hung = [asyncio.create_task(in_thread(release.wait)) for _ in range(5)]
    await asyncio.sleep(0)
    assert await in_thread(lambda: "quick") == ("quick", None)
    release.set()
    assert await asyncio.gather(*hung) == [(True, None)] * 5


async def test_more_than_the_most_are_refused_until_one_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "_PATIENCE_SECONDS", 0.05)
    release = threading.Event()
    hung = [asyncio.create_task(in_thread(release.wait)) for _ in range(MOST_THREADS)]
    await asyncio.sleep(0)
    result, error = await in_thread(lambda: "late")
    assert result is None
    assert f"busy with {MOST_THREADS} calls" in str(error)
    release.set()
    await asyncio.gather(*hung)
    assert await in_thread(lambda: "now") == ("now", None)


async def test_more_than_the_most_wait_in_turn_for_a_place() -> None:
    def work(number: int) -> int:
        time.sleep(0.005)
        return number

    calls = [in_thread(lambda n=n: work(n)) for n in range(4 * MOST_THREADS)]
    assert await asyncio.gather(*calls) == [(n, None) for n in range(4 * MOST_THREADS)]


async def test_who_waits_and_goes_leaves_its_place_to_others() -> None:
    release = threading.Event()
    hung = [asyncio.create_task(in_thread(release.wait)) for _ in range(MOST_THREADS)]
    await asyncio.sleep(0)
    late = [asyncio.create_task(in_thread(lambda: "late")) for _ in range(10)]
    await asyncio.sleep(0)
    for task in late[::2]:
        task.cancel()
    release.set()
    assert await asyncio.gather(*late[1::2]) == [("late", None)] * 5
    await asyncio.gather(*hung)
    again = [in_thread(lambda: 1) for _ in range(MOST_THREADS)]
    assert await asyncio.gather(*again) == [(1, None)] * MOST_THREADS


async def test_each_call_has_its_caller_s_context_and_leaves_none() -> None:
    def rename() -> str:
        before = NAME.get()
        NAME.set("of the thread")
        return before

    for name in ("a", "b"):
        NAME.set(name)
        assert await in_thread(rename) == (name, None)
        assert NAME.get() == name


@pytest.mark.parametrize("error", [LookupError, SystemExit, KeyboardInterrupt])
async def test_what_a_function_raises_is_given_and_its_thread_lives_on(
    error: type[BaseException],
) -> None:
    def fail() -> None:
        raise error("no")

    first, _ = await in_thread(threading.get_ident)
    result, raised = await in_thread(fail)
    assert (result, type(raised)) == (None, error)
    assert (await in_thread(threading.get_ident))[0] == first


async def test_a_call_that_is_given_up_does_not_break_its_thread() -> None:
    release = threading.Event()
    task = asyncio.create_task(in_thread(release.wait))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()
    assert await in_thread(lambda: 1) == (1, None)


async def test_a_thread_ends_when_nothing_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "_IDLE_SECONDS", 0.01)
    thread, _ = await in_thread(threading.current_thread)
    thread.join(30)
    assert not thread.is_alive()
    assert threads._idle == []
    assert await in_thread(lambda: "again") == ("again", None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_starts_threads_of_its_own() -> None:
    asyncio.run(in_thread(lambda: 1))
    child = os.fork()
    if child == 0:
        outcome = asyncio.run(in_thread(lambda: "child"))
        os._exit(0 if outcome == ("child", None) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
