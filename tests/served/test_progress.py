"""Reports of progress: from any thread, one after the other, never in a handler's way."""

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

Told = list[tuple[float, float | None, str | None]]


class Caller:
    """Somebody who takes in a report when it is let."""

    def __init__(self) -> None:
        self.told: Told = []
        self.goes_on = asyncio.Event()
        self.goes_on.set()

    async def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        await self.goes_on.wait()
        self.told.append((progress, total, message))


async def test_a_report_from_a_thread_arrives() -> None:
    caller = Caller()
    async with ProgressReporter(caller) as reports:
        call = CallContext("export", report=reports.report)
        await asyncio.to_thread(lambda: (call.progress(1, 2, "half"), None)[1])
    assert caller.told == [(1, 2, "half")]


async def test_who_does_not_listen_is_told_the_newest_and_holds_nobody_up() -> None:
    caller = Caller()
    caller.goes_on.clear()
    async with ProgressReporter(caller) as reports:
        first = reports.report(0)
        await asyncio.sleep(0.01)
        for step in range(1, 10_000):
            reports.report(step)
        caller.goes_on.set()
        await first
    assert caller.told == [(0, None, None), (9_999, None, None)]


async def test_a_report_that_is_awaited_is_sent_before_the_handler_goes_on() -> None:
    caller = Caller()
    async with ProgressReporter(caller) as reports:
        call = CallContext("export", report=reports.report)
        for step in range(3):
            await call.progress(step, 3)
            assert caller.told[-1] == (step, 3, None)
    await call.progress(4)
    assert len(caller.told) == 3, "after the call nothing is sent"


async def test_a_thread_may_not_await_and_does_not_hang() -> None:
    caller = Caller()
    async with ProgressReporter(caller) as reports:

        async def in_another_loop() -> None:
            await reports.report(1)

        await asyncio.to_thread(asyncio.run, in_another_loop())
    assert caller.told == [(1, None, None)]


async def test_who_never_listens_keeps_the_answer_waiting_for_a_moment_only() -> None:
    caller = Caller()
    caller.goes_on.clear()
    loop = asyncio.get_running_loop()
    begun = loop.time()
    async with ProgressReporter(caller) as reports:
        reports.report(1)
    assert 0.5 < loop.time() - begun < 5
    assert not caller.told


async def test_a_caller_that_cannot_be_told_does_not_fail_the_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def gone(*_: Any) -> None:
        raise ConnectionError("gone")

    async with ProgressReporter(gone) as reports:
        await reports.report(1)
        await reports.report(2)
    assert [record.getMessage() for record in caplog.records] == [
        "the progress of a call cannot be sent"
    ]


@pytest.mark.parametrize("progress", [float("nan"), float("inf"), 10**400])
async def test_what_is_no_number_is_the_handler_s_error(progress: float) -> None:
    async with ProgressReporter(Caller()) as reports:
        with pytest.raises(ValueError, match="finite numbers"):
            reports.report(progress)
        with pytest.raises(TypeError, match="must be a string"):
            reports.report(1, 2, 3)  # type: ignore[arg-type]  # as it says


async def test_numbers_are_sent_as_json_has_them() -> None:
    caller = Caller()
    async with ProgressReporter(caller) as reports:
        for wrong in (True, "1", b"1", None, [1]):
            with pytest.raises(TypeError):
                reports.report(wrong)  # type: ignore[arg-type]  # as it says
        reports.report(Decimal("0.5"), Fraction(3, 2))  # type: ignore[arg-type]
    assert json.dumps(caller.told) == "[[0.5, 1.5, null]]"


async def test_nobody_asked() -> None:
    call = CallContext("export")
    call.progress(1)
    await call.progress(2, 3, "so far")


async def test_values_always_rise_and_silence_is_filled() -> None:
    caller = Caller()
    async with ProgressNotifications(caller, 0.05) as notify:
        await asyncio.sleep(0.12)
        await notify(0, 10, "began \udcff")
        await notify(-3, 10, "back")
        await asyncio.sleep(0.07)
    values = [progress for progress, *_ in caller.told]
    assert values[0] == 0
    assert values == sorted(set(values))
    assert values[-1] < 0.0001, "a heartbeat says nothing of how far the call is"
    assert caller.told[-1][1:] == (10, "back")
    assert (10, "began \\udcff") in [told[1:] for told in caller.told]
    json.dumps(caller.told, allow_nan=False)


async def test_a_heartbeat_waits_for_who_is_slow() -> None:
    caller = Caller()
    caller.goes_on.clear()
    async with ProgressNotifications(caller, 0.01):
        await asyncio.sleep(0.1)
        caller.goes_on.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(caller.told) == 1


async def test_no_heartbeat_where_it_is_off() -> None:
    caller = Caller()
    async with ProgressNotifications(caller, None):
        await asyncio.sleep(0.05)
    assert not caller.told
