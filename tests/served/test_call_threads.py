"""Worker threads of synchronous handlers: reuse, limit, context, errors and exit."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable

import anyio
import pytest

from toolcast_runtime.core.calls import worker_threads
from toolcast_runtime.core.calls.worker_threads import MAX_THREADS, run_in_thread

CONTEXT_NAME: contextvars.ContextVar[str] = contextvars.ContextVar("name")


async def _get_name() -> str:
    await asyncio.sleep(0)
    return "inner"


def _run_in_new_loop() -> str:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_get_name())
    finally:
        loop.close()


@pytest.mark.parametrize(
    "run",
    [lambda: asyncio.run(_get_name()), lambda: anyio.run(_get_name), _run_in_new_loop],
    ids=["asyncio.run", "anyio.run", "new_event_loop"],
)
async def test_sync_handler_can_run_an_event_loop(run: Callable[[], str]) -> None:
    """Each loop ends with its call, so that the thread can run further ones."""
    for _ in range(2):
        assert await run_in_thread(run) == ("inner", None)


@pytest.mark.parametrize(
    ("run", "error"),
    [
        (asyncio.get_running_loop, RuntimeError),
        (lambda: signal.signal(signal.SIGALRM, signal.SIG_IGN), ValueError),
    ],
)
async def test_sync_handler_cannot_set_signal_handlers_or_get_a_running_event_loop(
    run: Callable[[], object], error: type[Exception]
) -> None:
    """It runs in a worker thread, in which Python raises an error for both."""
    result, raised = await run_in_thread(run)
    assert (result, type(raised)) == (None, error)


async def test_hanging_synchronous_handlers_do_not_block_a_further_call() -> None:
    release = threading.Event()
    hanging = [asyncio.create_task(run_in_thread(release.wait)) for _ in range(5)]
    await asyncio.sleep(0)
    assert await run_in_thread(lambda: "quick") == ("quick", None)
    release.set()
    assert await asyncio.gather(*hanging) == [(True, None)] * 5


async def test_idle_worker_thread_is_reused_and_renamed_for_each_tool_call() -> None:
    first, _ = await run_in_thread(threading.current_thread, "a")
    second, _ = await run_in_thread(threading.current_thread, "b")
    assert first is second
    name, _ = await run_in_thread(lambda: threading.current_thread().name, "c")
    assert name == "c"


async def test_idle_worker_thread_keeps_no_reference_to_its_last_call() -> None:
    class Argument:
        pass

    argument = Argument()
    reference = weakref.ref(argument)
    outcome = await run_in_thread(functools.partial(id, argument))
    assert outcome == (id(argument), None)
    del argument
    async with asyncio.timeout(30):
        while reference() is not None:
            await asyncio.sleep(0.001)


async def test_synchronous_call_is_refused_if_no_worker_thread_becomes_free_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker_threads, "_THREAD_TIMEOUT_S", 0.05)
    release = threading.Event()
    hanging = [
        asyncio.create_task(run_in_thread(release.wait)) for _ in range(MAX_THREADS)
    ]
    await asyncio.sleep(0)
    result, error = await run_in_thread(lambda: "late")
    assert result is None
    assert f"busy with {MAX_THREADS} calls" in str(error)
    release.set()
    await asyncio.gather(*hanging)
    assert await run_in_thread(lambda: "now") == ("now", None)


async def test_synchronous_calls_above_the_maximum_wait_for_worker_threads() -> None:
    idents: set[int] = set()

    def work(number: int) -> int:
        idents.add(threading.get_ident())
        time.sleep(0.005)
        return number

    calls = [run_in_thread(lambda n=n: work(n)) for n in range(4 * MAX_THREADS)]
    assert await asyncio.gather(*calls) == [(n, None) for n in range(4 * MAX_THREADS)]
    assert len(idents) <= MAX_THREADS and threading.get_ident() not in idents


async def test_cancelled_calls_that_ran_or_waited_for_a_worker_thread_use_up_none() -> (
    None
):
    release = threading.Event()
    hanging = [
        asyncio.create_task(run_in_thread(release.wait)) for _ in range(MAX_THREADS)
    ]
    await asyncio.sleep(0)
    late = [asyncio.create_task(run_in_thread(lambda: "late")) for _ in range(10)]
    await asyncio.sleep(0)
    for task in (hanging[0], *late[::2]):
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging.pop(0)
    release.set()
    assert await asyncio.gather(*late[1::2]) == [("late", None)] * 5
    await asyncio.gather(*hanging)
    calls = [run_in_thread(lambda: 1) for _ in range(MAX_THREADS)]
    assert await asyncio.gather(*calls) == [(1, None)] * MAX_THREADS


async def test_synchronous_handler_runs_in_a_caller_context_copy() -> None:
    """Variables that a call sets are visible neither to its caller nor to later calls."""

    def rename() -> str:
        before = CONTEXT_NAME.get()
        CONTEXT_NAME.set("of the thread")
        return before

    for name in ("a", "b"):
        CONTEXT_NAME.set(name)
        assert await run_in_thread(rename) == (name, None)
        assert CONTEXT_NAME.get() == name


@pytest.mark.parametrize("error", [LookupError, SystemExit, KeyboardInterrupt])
async def test_worker_thread_returns_a_handlers_exception_and_runs_further_calls(
    error: type[BaseException],
) -> None:
    def fail() -> None:
        raise error("no")

    result, raised = await run_in_thread(fail)
    assert (result, type(raised)) == (None, error)
    assert await run_in_thread(lambda: 1) == (1, None)


def test_hanging_synchronous_handler_does_not_prevent_process_exit() -> None:
    program = (
        "import asyncio, threading\n"
        "from toolcast_runtime.core.calls.worker_threads import run_in_thread\n"
        "async def main():\n"
        "    hung = asyncio.ensure_future(run_in_thread(threading.Event().wait))\n"
        "    print(await run_in_thread(lambda: 'quick'))\n"
        "asyncio.run(main())\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    expected = (0, "('quick', None)\n")
    assert (process.returncode, process.stdout) == expected, process.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_child_starts_its_own_worker_threads() -> None:
    asyncio.run(run_in_thread(lambda: 1))
    child = os.fork()
    if child == 0:
        outcome = asyncio.run(run_in_thread(lambda: "child"))
        os._exit(0 if outcome == ("child", None) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
