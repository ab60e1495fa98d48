"""Time limits of calls and of abandoned handlers, partly with a simulated clock."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextvars import copy_context
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.core.calls import call_telemetry, execution, worker_threads
from toolcast_runtime.core.calls.call_telemetry import ProgressReporter


@pytest.mark.parametrize(
    ("waited", "is_waiting", "expected"),
    [
        (0, [False], []),
        (4, [False], [4]),
        (9.96, [False], [9.96]),
        (0, [True, True, False], [0.05, 0.05]),
        (4, [True, False], [4, 0.05]),
    ],
)
async def test_call_timeout_is_extended_by_the_time_that_the_user_took_to_answer(
    monkeypatch: pytest.MonkeyPatch,
    waited: float,
    is_waiting: list[bool],
    expected: list[float],
) -> None:
    """After 10 s, the call waits for the duration of its questions, and for open ones."""
    now, waits = [100.0], list[float]()

    class Questions:
        @property
        def is_waiting(self) -> bool:
            return is_waiting.pop(0)

    async def wait(_: Any, timeout: float) -> None:
        waits.append(timeout)
        now[0] += timeout

    questions: Any = Questions()
    questions.waiting_seconds = waited
    loop = SimpleNamespace(time=lambda: now[0])
    scripted = SimpleNamespace(get_running_loop=lambda: loop, wait=wait)
    never: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    monkeypatch.setattr(execution, "asyncio", scripted)
    await execution._wait_while_asking(never, 10.0, questions)  # type: ignore[arg-type]
    assert waits == pytest.approx(expected)
    assert is_waiting == []


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs eager tasks")
async def test_handler_task_that_never_awaits_is_done_when_it_is_created() -> None:
    async def work() -> Any:
        return 1, None

    task = execution._start_task(work(), copy_context())
    assert task.done()
    assert await task == (1, None)


async def _measure_wait(limit: float) -> float:
    loop = asyncio.get_running_loop()
    start = loop.time()
    await worker_threads.wait_for_abandoned(limit)
    return loop.time() - start


async def test_process_exit_waits_for_abandoned_handlers_up_to_the_limit() -> None:
    limit = 60
    assert await _measure_wait(limit) < limit / 2
    loop = asyncio.get_running_loop()
    loop.call_later(0.1, worker_threads.track_abandoned("one"))
    assert 0.05 < await _measure_wait(limit) < limit / 2
    end_call = worker_threads.track_abandoned("other")
    assert 0.05 < await _measure_wait(0.06) < limit / 2
    end_call()


@pytest.fixture
def keyboard_interrupt() -> Iterator[None]:
    """Make an alarm interrupt the test as Ctrl-C does."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("keyboard_interrupt")
def test_keyboard_interrupt_waits_two_seconds_for_running_handlers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits: list[float] = []

    async def wait_for_abandoned(seconds: float) -> None:
        limits.append(seconds)

    async def handle() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        await asyncio.sleep(60)

    monkeypatch.setattr(worker_threads, "wait_for_abandoned", wait_for_abandoned)
    with pytest.raises(KeyboardInterrupt):
        worker_threads.run_sync(handle())
    assert limits == [2.0]


async def test_calls_last_progress_report_has_a_one_second_time_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits: list[float] = []
    wait = asyncio.wait

    async def shorter(tasks: Any, timeout: float) -> Any:
        limits.append(timeout)
        return await wait(tasks, timeout=0.01)

    async def send(*_: Any) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(call_telemetry.asyncio, "wait", shorter)
    async with ProgressReporter(send) as reports:
        reports.report(1)
    assert limits == [1.0]


async def test_tool_may_have_at_most_sixteen_abandoned_calls() -> None:
    """Calls of other tools are counted separately, and ended calls are subtracted."""
    loop = asyncio.get_running_loop()
    assert not worker_threads.has_max_abandoned_calls("look")
    other = worker_threads.track_abandoned("other")
    ends = [worker_threads.track_abandoned("look") for _ in range(16)]
    assert worker_threads.has_max_abandoned_calls("look")
    assert not worker_threads.has_max_abandoned_calls("other")
    ends.pop()()
    assert not worker_threads.has_max_abandoned_calls("look")
    ends.append(worker_threads.track_abandoned("look"))
    other()
    assert worker_threads.has_max_abandoned_calls("look")
    for end in ends:
        end()
    assert loop not in worker_threads._abandoned


async def test_abandoned_handler_that_still_runs_after_ten_seconds_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    loop, scheduled = asyncio.get_running_loop(), list[Any]()

    def call_later(seconds: float, *callback: Any) -> Any:
        scheduled.append((seconds, callback))
        return SimpleNamespace(cancel=lambda: scheduled.append("cancelled"))

    monkeypatch.setattr(loop, "call_later", call_later)
    end_call = worker_threads.track_abandoned("look")
    [(seconds, (log, *args))] = scheduled
    assert seconds == 10.0
    log(*args)
    assert "a handler of look still runs 10 s after its call was given up; 1 of" in (
        caplog.text
    )
    assert "from 16 on its further calls are refused" in caplog.text
    end_call()
    assert scheduled[1:] == ["cancelled"]
