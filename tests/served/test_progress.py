"""Progress reports of handlers: threads, slow callers, invalid values and heartbeat."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from toolcast_runtime.core.calls.call_telemetry import ProgressReporter
from toolcast_runtime.core.context import CallContext
from toolcast_runtime.mcp.elicitation import ProgressNotifications

Reports = list[tuple[float, float | None, str | None]]


class Caller:
    """Caller that receives reports while `is_listening` is set."""

    def __init__(self) -> None:
        self.received: Reports = []
        self.is_listening = asyncio.Event()
        self.is_listening.set()

    async def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        await self.is_listening.wait()
        self.received.append((progress, total, message))


async def test_progress_from_a_handlers_thread_reaches_the_caller() -> None:
    caller = Caller()
    async with ProgressReporter(caller) as reports:
        call = CallContext("export", report=reports.report)
        await asyncio.to_thread(lambda: (call.progress(1, 2, "half"), None)[1])
    assert caller.received == [(1, 2, "half")]


async def test_slow_caller_receives_the_first_and_the_newest_progress_report() -> None:
    """Reports in between are dropped, so the handler does not wait for the caller."""
    caller = Caller()
    caller.is_listening.clear()
    async with ProgressReporter(caller) as reports:
        first = reports.report(0)
        await asyncio.sleep(0.01)
        for step in range(1, 10_000):
            reports.report(step)
        caller.is_listening.set()
        await first
    assert caller.received == [(0, None, None), (9_999, None, None)]


async def test_awaited_progress_is_sent_before_the_handler_continues() -> None:
    """Progress after the end of the call is not sent."""
    caller = Caller()
    async with ProgressReporter(caller) as reports:
        call = CallContext("export", report=reports.report)
        for step in range(3):
            await call.progress(step, 3)
            assert caller.received[-1] == (step, 3, None)
    await call.progress(4)
    assert len(caller.received) == 3


async def test_progress_awaited_in_another_event_loop_is_sent() -> None:
    caller = Caller()
    async with ProgressReporter(caller) as reports:

        async def in_another_loop() -> None:
            await reports.report(1)

        await asyncio.to_thread(asyncio.run, in_another_loop())
    assert caller.received == [(1, None, None)]


async def test_progress_that_cannot_be_sent_does_not_fail_the_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Connection errors are logged once."""

    async def fail(*_: Any) -> None:
        raise ConnectionError("gone")

    async with ProgressReporter(fail) as reports:
        await reports.report(1)
        await reports.report(2)
    assert [record.getMessage() for record in caplog.records] == [
        "the progress of a call cannot be sent"
    ]


@pytest.mark.parametrize("progress", [float("nan"), float("inf"), 10**400])
async def test_infinite_progress_or_a_wrong_message_type_raises_in_the_handler(
    progress: float,
) -> None:
    async with ProgressReporter(Caller()) as reports:
        with pytest.raises(ValueError, match="finite numbers"):
            reports.report(progress)
        with pytest.raises(TypeError, match="must be a string"):
            reports.report(1, 2, 3)  # type: ignore[arg-type]


async def test_progress_accepts_any_real_number_and_sends_it_as_json_number() -> None:
    """Decimals and fractions are converted; booleans and other types are refused."""
    caller = Caller()
    async with ProgressReporter(caller) as reports:
        for wrong in (True, "1", b"1", None, [1]):
            with pytest.raises(TypeError):
                reports.report(wrong)  # type: ignore[arg-type]
        reports.report(Decimal("0.5"), Fraction(3, 2))  # type: ignore[arg-type]
    assert json.dumps(caller.received) == "[[0.5, 1.5, null]]"


async def test_progress_without_a_listener_has_no_effect() -> None:
    call = CallContext("export")
    call.progress(1)
    await call.progress(2, 3, "so far")


async def test_progress_values_rise_and_heartbeats_repeat_the_last_message() -> None:
    """Heartbeats rise by less than 0.0001 and invalid Unicode is escaped."""
    caller = Caller()
    async with ProgressNotifications(caller, 0.05) as notify:
        await asyncio.sleep(0.12)
        await notify(0, 10, "began \udcff")
        await notify(-3, 10, "back")
        await asyncio.sleep(0.07)
    values = [progress for progress, *_ in caller.received]
    assert values[0] == 0
    assert values == sorted(set(values))
    assert values[-1] < 0.0001
    assert caller.received[-1][1:] == (10, "back")
    assert (10, "began \\udcff") in [report[1:] for report in caller.received]
    json.dumps(caller.received, allow_nan=False)


async def test_progress_heartbeats_do_not_queue_for_a_slow_caller() -> None:
    caller = Caller()
    caller.is_listening.clear()
    async with ProgressNotifications(caller, 0.01):
        await asyncio.sleep(0.1)
        caller.is_listening.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(caller.received) == 1


async def test_no_progress_heartbeat_is_sent_without_an_interval() -> None:
    caller = Caller()
    async with ProgressNotifications(caller, None):
        await asyncio.sleep(0.05)
    assert not caller.received
