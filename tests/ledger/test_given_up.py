"""A time-out or a cancelled caller ends the work; what does not end is counted and bounded."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from typing import Any

import pytest

from tests.runtime.kept_ledger import Kept
from toolcast_runtime import current_call
from toolcast_runtime.core.calls import worker_threads
from toolcast_runtime.core.calls.worker_threads import MAX_ABANDONED_CALLS, run_sync

Seen = list[str]
# Long enough that a handler's thread has begun on a busy machine, too.
TIMEOUT = 0.5


def polite(seen: Seen) -> None:
    """A plain function that says that it began, and asks whether anybody waits for it."""
    call = current_call()
    seen.append("began")
    while not call.cancelled:
        time.sleep(0.005)
    seen.append(call.tool)


async def until(seen: Seen, number: int = 1) -> None:
    async with asyncio.timeout(20):
        while len(seen) < number:
            await asyncio.sleep(0.01)


async def test_a_time_out_ends_a_plain_function_that_asks(
    kept: Kept, handlers: Any
) -> None:
    seen: Seen = []
    handlers.export = lambda: polite(seen)
    answer = await kept.call("export", timeout=TIMEOUT)
    assert answer.error == "the tool did not answer within 0.5 s"
    await until(seen, 2)
    assert seen == ["began", "export"]
    assert [row["outcome"] for row in kept.rows()] == ["timeout"]


async def test_a_caller_that_goes_ends_a_plain_function_that_asks(
    kept: Kept, handlers: Any
) -> None:
    seen: Seen = []
    handlers.export = lambda: polite(seen)
    task = asyncio.create_task(kept.call("export"))
    await until(seen)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(seen, 2)
    await kept.calls.close()
    assert [row["outcome"] for row in kept.rows()] == ["cancelled"]


async def test_a_call_that_ends_by_itself_was_not_cancelled(
    kept: Kept, handlers: Any
) -> None:
    handlers.export = lambda: current_call().cancelled
    assert (await kept.call("export")).result is False


@pytest.mark.rows(1)
@pytest.mark.parametrize("how", ["plain", "async"])
async def test_a_handler_that_does_not_end_is_told_and_refused_in_the_end(
    kept: Kept,
    handlers: Any,
    how: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Longer than a cancelled task takes to give its thread up: until then both are counted.
    monkeypatch.setattr(worker_threads, "_ABANDONED_LOG_DELAY_S", 0.4)
    release = threading.Event()

    async def stubborn() -> None:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    handlers.stuck = stubborn if how == "async" else lambda: release.wait()
    handlers.other = lambda: "works"
    calls = [kept.call("stuck", timeout=TIMEOUT) for _ in range(MAX_ABANDONED_CALLS)]
    for answer in await asyncio.gather(*calls):
        assert answer.error == "the tool did not answer within 0.5 s"
    refused = await kept.call("stuck", timeout=TIMEOUT)
    assert "were given up and still run" in str(refused)
    assert (await kept.call("other")).result == "works"
    told: list[logging.LogRecord] = []
    async with asyncio.timeout(20):
        while len(told) < MAX_ABANDONED_CALLS:
            await asyncio.sleep(0.01)
            told = [r for r in caplog.records if "still runs" in r.getMessage()]
    assert len(told) == MAX_ABANDONED_CALLS
    assert told[-1].levelno == logging.WARNING
    assert "a handler of stuck" in told[-1].getMessage()
    release.set()
    await worker_threads.wait_for_abandoned(20)
    assert "given up" not in str(await kept.call("stuck", timeout=TIMEOUT))


async def test_an_end_that_has_come_is_seen_soon(kept: Kept, handlers: Any) -> None:
    seen: Seen = []
    handlers.export = lambda: polite(seen)
    await kept.call("export", timeout=TIMEOUT)
    start = time.monotonic()
    await worker_threads.wait_for_abandoned(20)
    assert time.monotonic() - start < 0.9
    assert seen == ["began", "export"]


def test_an_interrupted_caller_without_a_loop_gives_handlers_a_moment_to_end(
    kept: Kept, handlers: Any
) -> None:
    seen: Seen = []
    handlers.export = lambda: polite(seen)

    async def interrupted() -> None:
        task = asyncio.ensure_future(kept.call("export"))
        await until(seen)
        threading.Timer(0, _interrupt, [threading.main_thread().ident]).start()
        await task

    with pytest.raises(KeyboardInterrupt):
        run_sync(interrupted())
    assert seen == ["began", "export"]


def _interrupt(ident: int) -> None:
    import signal

    signal.pthread_kill(ident, signal.SIGINT)
