"""Functions of the user that receive the records instead of the file."""

from __future__ import annotations

import asyncio
import gc
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.file_ledger import HANDLERS, FileLedger
from toolcast_runtime.core.calls import worker_threads
from toolcast_runtime.core.calls.worker_threads import MAX_ABANDONED_CALLS
from toolcast_runtime.ledger import Record


@pytest.mark.parametrize("is_async", [False, True])
async def test_sync_and_async_sink_functions_receive_the_call_records(
    tmp_path: Path, handlers: Any, is_async: bool
) -> None:
    records: list[Record] = []

    async def append(record: Record) -> None:
        await asyncio.sleep(0)
        records.append(record)

    handlers.sink = append if is_async else records.append
    handlers.echo = lambda arguments, /: arguments
    file_ledger = FileLedger(tmp_path / "unused", f"{HANDLERS}:sink")
    assert (await file_ledger.call("echo", {"a": 1})).success
    await file_ledger.calls.close()
    first, last = records
    assert (first.outcome, last.outcome) == ("started", "ok")
    assert first.id == last.id
    assert last.result == {"a": 1}
    assert not (tmp_path / "unused").exists()


async def test_ledger_close_waits_until_the_sink_function_has_a_cancelled_call(
    tmp_path: Path, handlers: Any
) -> None:
    outcomes: list[str] = []
    is_running = asyncio.Event()

    async def work() -> None:
        is_running.set()
        await asyncio.Event().wait()

    async def append(record: Record) -> None:
        for _ in range(100):
            await asyncio.sleep(0)
        outcomes.append(record.outcome)

    handlers.work, handlers.sink = work, append
    file_ledger = FileLedger(tmp_path / "unused", f"{HANDLERS}:sink")
    call = asyncio.ensure_future(file_ledger.call("work"))
    await is_running.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await file_ledger.calls.close()
    assert outcomes == ["started", "cancelled"]


async def test_tool_call_is_refused_if_the_ledger_sink_function_fails(
    tmp_path: Path, handlers: Any
) -> None:
    ran: list[int] = []
    handlers.work = lambda: ran.append(1)
    handlers.broken = lambda record, /: 1 / 0
    for sink in ("absent", "broken"):
        file_ledger = FileLedger(tmp_path / "unused", f"{HANDLERS}:{sink}")
        assert "cannot be written" in ((await file_ledger.call("work")).error or "")
    assert ran == []


async def test_each_registry_logs_its_first_ledger_failure(
    tmp_path: Path, handlers: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Also if a deleted registry had the same `id()`."""
    handlers.work = lambda: None
    for count in range(1, 20):
        file_ledger = FileLedger(tmp_path / "unused", f"{HANDLERS}:absent")
        for _ in range(2):
            await file_ledger.call("work")
        assert caplog.text.count("its start cannot be recorded") == count
        del file_ledger
        gc.collect()


async def test_hanging_ledger_sink_function_uses_at_most_16_threads(
    tmp_path: Path, handlers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls fail while the sink hangs, and other threads still run."""
    monkeypatch.setattr("toolcast_runtime.ledger.recorder._SINK_TIMEOUT_S", 0.2)
    release = threading.Event()
    handlers.sink = lambda record, /: release.wait(60)
    handlers.work = lambda: 1
    file_ledger = FileLedger(tmp_path / "unused", f"{HANDLERS}:sink")
    try:
        for _ in range(2):
            calls = [file_ledger.call("work") for _ in range(MAX_ABANDONED_CALLS)]
            answers = await asyncio.gather(*calls)
            assert not any(answer.success for answer in answers)
        given_up = [t for t in threading.enumerate() if t.name == f"{HANDLERS}:sink"]
        assert len(given_up) <= MAX_ABANDONED_CALLS
        async with asyncio.timeout(5):
            assert await asyncio.to_thread(lambda: 1) == 1
    finally:
        release.set()
        await worker_threads.wait_for_abandoned(20)
