"""Each call of a plain handler has a thread to itself, and a hung one holds up nobody."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import subprocess
import sys
import threading
import time
import weakref

import pytest

from toolcast_runtime.core.calls import worker_threads
from toolcast_runtime.core.calls.worker_threads import MAX_THREADS, run_in_thread

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name")


async def test_a_call_runs_in_another_thread() -> None:
    ident, error = await run_in_thread(threading.get_ident)
    assert error is None
    assert ident != threading.get_ident()


async def test_every_hung_call_keeps_a_thread_of_its_own() -> None:
    release = threading.Event()
    hung = [asyncio.create_task(run_in_thread(release.wait)) for _ in range(5)]
    await asyncio.sleep(0)
    assert await run_in_thread(lambda: "quick") == ("quick", None)
    release.set()
    assert await asyncio.gather(*hung) == [(True, None)] * 5


async def test_a_thread_takes_one_call_after_the_other_and_has_the_name_of_each() -> (
    None
):
    ran = [await run_in_thread(threading.current_thread, name) for name in ("a", "b")]
    (first, _), (second, _) = ran
    assert first is second
    assert await run_in_thread(lambda: threading.current_thread().name, "c") == (
        "c",
        None,
    )


async def test_a_thread_that_waits_keeps_nothing_of_its_last_call() -> None:
    class Given:
        pass

    given = Given()
    kept = weakref.ref(given)
    assert await run_in_thread(functools.partial(id, given)) == (id(given), None)
    del given
    async with asyncio.timeout(5):
        while kept() is not None:
            await asyncio.sleep(0.001)


async def test_there_are_never_more_threads_than_places() -> None:
    idents: set[int] = set()
    for _ in range(5):
        calls = [
            run_in_thread(lambda: idents.add(threading.get_ident()))
            for _ in range(2 * MAX_THREADS)
        ]
        await asyncio.gather(*calls)
    assert len(idents) <= MAX_THREADS


async def test_more_than_the_most_are_refused_until_one_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_threads, "_THREAD_TIMEOUT_S", 0.05)
    release = threading.Event()
    hung = [
        asyncio.create_task(run_in_thread(release.wait)) for _ in range(MAX_THREADS)
    ]
    await asyncio.sleep(0)
    result, error = await run_in_thread(lambda: "late")
    assert result is None
    assert f"busy with {MAX_THREADS} calls" in str(error)
    release.set()
    await asyncio.gather(*hung)
    assert await run_in_thread(lambda: "now") == ("now", None)


async def test_more_than_the_most_wait_in_turn_for_a_place() -> None:
    def work(number: int) -> int:
        time.sleep(0.005)
        return number

    calls = [run_in_thread(lambda n=n: work(n)) for n in range(4 * MAX_THREADS)]
    assert await asyncio.gather(*calls) == [(n, None) for n in range(4 * MAX_THREADS)]


async def test_who_waits_and_goes_leaves_its_place_to_others() -> None:
    release = threading.Event()
    hung = [
        asyncio.create_task(run_in_thread(release.wait)) for _ in range(MAX_THREADS)
    ]
    await asyncio.sleep(0)
    late = [asyncio.create_task(run_in_thread(lambda: "late")) for _ in range(10)]
    await asyncio.sleep(0)
    for task in late[::2]:
        task.cancel()
    release.set()
    assert await asyncio.gather(*late[1::2]) == [("late", None)] * 5
    await asyncio.gather(*hung)
    again = [run_in_thread(lambda: 1) for _ in range(MAX_THREADS)]
    assert await asyncio.gather(*again) == [(1, None)] * MAX_THREADS


async def test_each_call_has_its_caller_s_context_and_leaves_none() -> None:
    def rename() -> str:
        before = NAME.get()
        NAME.set("of the thread")
        return before

    for name in ("a", "b"):
        NAME.set(name)
        assert await run_in_thread(rename) == (name, None)
        assert NAME.get() == name


@pytest.mark.parametrize("error", [LookupError, SystemExit, KeyboardInterrupt])
async def test_what_a_function_raises_is_given(
    error: type[BaseException],
) -> None:
    def fail() -> None:
        raise error("no")

    result, raised = await run_in_thread(fail)
    assert (result, type(raised)) == (None, error)
    assert await run_in_thread(lambda: 1) == (1, None)


async def test_a_call_that_is_given_up_leaves_its_place_when_its_thread_ends() -> None:
    release = threading.Event()
    task = asyncio.create_task(run_in_thread(release.wait))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()
    assert await run_in_thread(lambda: 1) == (1, None)


def test_a_hung_call_does_not_keep_the_process_from_ending() -> None:
    program = (
        "import asyncio, threading\n"
        "from toolcast_runtime.core.calls.worker_threads import run_in_thread\n"
        "async def main():\n"
        "    hung = asyncio.ensure_future(run_in_thread(threading.Event().wait))\n"
        "    print(await run_in_thread(lambda: 'quick'))\n"
        "asyncio.run(main())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stdout) == (0, "('quick', None)\n"), ran.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_starts_threads_of_its_own() -> None:
    asyncio.run(run_in_thread(lambda: 1))
    child = os.fork()
    if child == 0:
        outcome = asyncio.run(run_in_thread(lambda: "child"))
        os._exit(0 if outcome == ("child", None) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
