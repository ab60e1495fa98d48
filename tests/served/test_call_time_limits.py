"""How long calls have, by a clock that the test sets, and how long what runs on is waited for."""

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
    ("waited", "is_waiting", "waits"),
    [
        (0, [False], []),
        (4, [False], [4]),
        (9.96, [False], [9.96]),
        (0, [True, True, False], [0.05, 0.05]),
        (4, [True, False], [4, 0.05]),
    ],
)
async def test_a_call_has_its_time_while_no_person_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
    waited: float,
    is_waiting: list[bool],
    waits: list[float],
) -> None:
    """Of its ten seconds all are over but those that a person has taken."""
    now, slept = [100.0], list[float]()

    class Questions:
        @property
        def is_waiting(self) -> bool:
            return is_waiting.pop(0)

    async def wait(_: Any, timeout: float) -> None:
        slept.append(timeout)
        now[0] += timeout

    questions: Any = Questions()
    questions.waiting_seconds = waited
    loop = SimpleNamespace(time=lambda: now[0])
    scripted = SimpleNamespace(get_running_loop=lambda: loop, wait=wait)
    never: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    monkeypatch.setattr(execution, "asyncio", scripted)
    await execution._wait_while_asking(never, 10.0, questions)  # type: ignore[arg-type]
    assert slept == pytest.approx(waits)
    assert is_waiting == []


@pytest.mark.skipif(sys.version_info < (3, 12), reason="tasks begin a round later")
async def test_work_that_never_waits_is_done_at_once() -> None:
    async def done() -> Any:
        return 1, None

    task = execution._start_task(done(), copy_context())
    assert task.done()
    assert await task == (1, None)


async def _took(seconds: float) -> float:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await worker_threads.wait_for_abandoned(seconds)
    return loop.time() - begun


async def test_what_runs_on_is_waited_for_until_it_ends_or_the_time_is_over() -> None:
    assert await _took(30) < 1
    loop = asyncio.get_running_loop()
    loop.call_later(0.1, worker_threads.track_abandoned("one"))
    assert 0.05 < await _took(30) < 1
    ended = worker_threads.track_abandoned("other")
    assert 0.05 < await _took(0.06) < 1
    ended()


@pytest.fixture
def interrupted_soon() -> Iterator[None]:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("interrupted_soon")
def test_who_interrupts_a_wait_gives_the_handlers_two_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[float] = []

    async def until_ended(seconds: float) -> None:
        given.append(seconds)

    monkeypatch.setattr(worker_threads, "wait_for_abandoned", until_ended)
    with pytest.raises(KeyboardInterrupt):
        worker_threads.run_sync(asyncio.sleep(60))
    assert given == [2.0]


async def test_the_last_report_has_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []
    wait = asyncio.wait

    async def shorter(tasks: Any, timeout: float) -> Any:
        given.append(timeout)
        return await wait(tasks, timeout=0.01)

    async def send(*_: Any) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(call_telemetry.asyncio, "wait", shorter)
    async with ProgressReporter(send) as reports:
        reports.report(1)
    assert given == [1.0]


async def test_sixteen_calls_of_a_tool_may_run_on() -> None:
    loop = asyncio.get_running_loop()
    assert not worker_threads.has_max_abandoned_calls("look")
    other = worker_threads.track_abandoned("other")
    ends = [worker_threads.track_abandoned("look") for _ in range(16)]
    assert worker_threads.has_max_abandoned_calls(
        "look"
    ) and not worker_threads.has_max_abandoned_calls("other")
    ends.pop()()
    assert not worker_threads.has_max_abandoned_calls("look")
    ends.append(worker_threads.track_abandoned("look"))
    other()
    assert worker_threads.has_max_abandoned_calls(
        "look"
    ), "what still runs is forgotten"
    for end in ends:
        end()
    assert loop not in worker_threads._abandoned


async def test_the_log_is_told_of_what_runs_on_for_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    loop, later = asyncio.get_running_loop(), list[Any]()

    def call_later(seconds: float, *what: Any) -> Any:
        later.append((seconds, what))
        return SimpleNamespace(cancel=lambda: later.append("cancelled"))

    monkeypatch.setattr(loop, "call_later", call_later)
    ended = worker_threads.track_abandoned("look")
    [(seconds, (tell, *given))] = later
    assert seconds == 10.0
    tell(*given)
    assert "a handler of look still runs 10 s after its call was given up; 1 of" in (
        caplog.text
    )
    assert "from 16 on its further calls are refused" in caplog.text
    ended()
    assert later[1:] == ["cancelled"]
