"""Abandoned calls: timeouts and cancellation stop handlers, and the rest is bounded."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import threading
import time
from typing import Any

import pytest

from tests.runtime.file_ledger import FileLedger
from tests.waiting import wait_until_async
from toolcast_runtime import current_call
from toolcast_runtime.core.calls import worker_threads
from toolcast_runtime.core.calls.worker_threads import MAX_ABANDONED_CALLS, run_sync

Events = list[str]
# A handler's thread must start within this time, even on a busy machine.
TIMEOUT = 0.5


def run_until_cancelled(seen: Events) -> None:
    """Record the start, then poll `cancelled` and record the tool's name."""
    call = current_call()
    seen.append("began")
    while not call.cancelled:
        time.sleep(0.005)
    seen.append(call.tool)


async def test_tool_call_timeout_sets_cancelled_and_the_handlers_end_is_awaited(
    file_ledger: FileLedger, handlers: Any
) -> None:
    seen: Events = []
    handlers.export = lambda: run_until_cancelled(seen)
    answer = await file_ledger.call("export", timeout=TIMEOUT)
    assert answer.error == "the tool did not answer within 0.5 s"
    start = time.monotonic()
    await worker_threads.wait_for_abandoned(20)
    assert time.monotonic() - start < 0.9
    assert seen == ["began", "export"]
    assert [row["outcome"] for row in file_ledger.rows()] == ["timeout"]


async def test_cancelled_tool_call_sets_cancelled_for_its_sync_handler(
    file_ledger: FileLedger, handlers: Any
) -> None:
    seen: Events = []
    handlers.export = lambda: run_until_cancelled(seen)
    task = asyncio.create_task(file_ledger.call("export"))
    await wait_until_async(lambda: seen)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await wait_until_async(lambda: len(seen) == 2)
    await file_ledger.calls.close()
    assert [row["outcome"] for row in file_ledger.rows()] == ["cancelled"]


async def test_completed_tool_call_does_not_set_cancelled_for_its_handler(
    file_ledger: FileLedger, handlers: Any
) -> None:
    handlers.export = lambda: current_call().cancelled
    assert (await file_ledger.call("export")).result is False


@pytest.mark.rows(1)
@pytest.mark.parametrize("how", ["plain", "async"])
async def test_handlers_that_run_after_their_timeout_are_logged_and_limited(
    file_ledger: FileLedger,
    handlers: Any,
    how: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The delay must exceed the time in which a cancelled task abandons its thread, which counts twice.
    monkeypatch.setattr(worker_threads, "_ABANDONED_LOG_DELAY_S", 0.4)
    release = threading.Event()

    async def stubborn() -> None:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    handlers.stuck = stubborn if how == "async" else lambda: release.wait()
    handlers.other = lambda: "works"
    calls = [
        file_ledger.call("stuck", timeout=TIMEOUT) for _ in range(MAX_ABANDONED_CALLS)
    ]
    for answer in await asyncio.gather(*calls):
        assert answer.error == "the tool did not answer within 0.5 s"
    refused = await file_ledger.call("stuck", timeout=TIMEOUT)
    assert "were given up and still run" in str(refused)
    assert (await file_ledger.call("other")).result == "works"
    records: list[logging.LogRecord] = []
    async with asyncio.timeout(20):
        while len(records) < MAX_ABANDONED_CALLS:
            await asyncio.sleep(0.01)
            records = [r for r in caplog.records if "still runs" in r.getMessage()]
    assert len(records) == MAX_ABANDONED_CALLS
    assert records[-1].levelno == logging.WARNING
    assert "a handler of stuck" in records[-1].getMessage()
    release.set()
    await worker_threads.wait_for_abandoned(20)
    assert "given up" not in str(await file_ledger.call("stuck", timeout=TIMEOUT))


def test_run_sync_interrupted_by_ctrl_c_waits_until_the_handler_ends(
    file_ledger: FileLedger, handlers: Any
) -> None:
    seen: Events = []
    handlers.export = lambda: run_until_cancelled(seen)

    async def call_and_interrupt() -> None:
        task = asyncio.ensure_future(file_ledger.call("export"))
        await wait_until_async(lambda: seen)
        main_thread = threading.main_thread().ident
        threading.Timer(0, signal.pthread_kill, [main_thread, signal.SIGINT]).start()
        await task

    with pytest.raises(KeyboardInterrupt):
        run_sync(call_and_interrupt())
    assert seen == ["began", "export"]
