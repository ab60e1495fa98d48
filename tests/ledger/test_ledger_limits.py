"""Boundary values of the ledger: batches, waiting times, sizes and retention."""

from __future__ import annotations

import asyncio
import logging
import math
import queue
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest

from toolcast_runtime.ledger import (
    HttpSink,
    LedgerError,
    LedgerSettings,
    Record,
    http_sink,
    recorder,
    records,
    sqlite_ledger,
    tables,
)
from toolcast_runtime.ledger.sqlite_ledger import SqliteLedger, open_connection

RECORD = Record("1", "toys", "spin", None, "2026-01-01", {}, outcome="ok")
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def make_item(outcome: Any = "ok") -> Any:
    return replace(RECORD, outcome=outcome), Future()


def test_batch_written_to_the_ledger_has_at_most_500_records() -> None:
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    for _ in range(501):
        waiting.put(make_item())
    batch, is_open = records._next_batch(waiting, None)
    assert (len(batch), is_open) == (500, True)
    waiting.put(None)
    batch, is_open = records._next_batch(waiting, None)
    assert (len(batch), is_open) == (1, False)
    assert records._next_batch(waiting, 0.001) == ([], True)


class Batches(records.RecordBatches[Any]):
    """Record batches that lose their connection in the first batch."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[list[Record]] = []

    def _write_batch(self, connection: Any, records: list[Record]) -> Any:
        self.written.append(records)
        if len(self.written) == 1:
            return None, dict.fromkeys(range(len(records)), LedgerError("away"))
        return sqlite3.connect(":memory:", check_same_thread=False), {}


def test_unwritten_ends_are_retried_after_2_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 10,000 of them are kept for the next attempt."""
    batches = Batches()
    items = [make_item("started"), *(make_item() for _ in range(10_001))]
    turns = iter([(items, True), ([], True), ([], False)])
    waited: list[Any] = []

    def next_batch(_: Any, seconds: Any) -> Any:
        waited.append(seconds)
        return next(turns)

    monkeypatch.setattr(records, "_next_batch", next_batch)
    batches._unwritten = len(items)
    batches._run(queue.SimpleQueue())
    assert waited == [None, 2.0, None]
    assert [len(batch) for batch in batches.written] == [10_002, 10_000]
    assert {item_.outcome for item_ in batches.written[1]} == {"ok"}
    assert all(isinstance(done.exception(), LedgerError) for _, done in items)
    assert batches._unwritten == 0


def test_process_exit_waits_60_seconds_for_the_ledger_thread(
    caplog: pytest.LogCaptureFixture,
) -> None:
    batches = Batches()
    joined: list[float] = []
    thread: Any = SimpleNamespace(join=joined.append, is_alive=lambda: True)
    batches._thread = thread
    batches._finish()
    assert joined == [60.0]
    assert batches._waiting.get_nowait() is None
    assert "did not write its last records in time" in caplog.text
    batches._finish()
    assert joined == [60.0], "there is no thread any more"


async def test_sink_function_times_out_in_10_s(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def wait_for(work: Any, seconds: float) -> None:
        waited.append(seconds)
        work.close()

    fake = SimpleNamespace(wait_for=wait_for)
    monkeypatch.setattr(recorder, "asyncio", fake)
    await recorder.FunctionLedger("a:b", None).write(RECORD)
    assert waited == [10.0]


def test_ledger_waits_30_seconds_or_not_at_all_for_a_sqlite_lock(
    ledger: SqliteLedger,
) -> None:
    connection = ledger._connection
    assert connection is not None
    for is_patient, most in ((True, 30_000), (False, 0)):
        sqlite_ledger._set_lock_wait(connection, is_patient=is_patient)
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (most,)


@pytest.mark.parametrize(
    ("code", "seconds"),
    [
        (sqlite3.SQLITE_BUSY, 40),
        (sqlite3.SQLITE_BUSY_RECOVERY, 40),
        (sqlite3.SQLITE_CANTOPEN, 0),
    ],
)
def test_ledger_retries_to_use_wal_mode_for_30_seconds_while_the_file_is_busy(
    monkeypatch: pytest.MonkeyPatch, code: int, seconds: int
) -> None:
    """Here each attempt takes 10 seconds, so that the last one begins after 30."""
    clock = SimpleNamespace(now=0)

    def advance(_: float) -> None:
        clock.now += 10

    def execute(_: str) -> None:
        error = sqlite3.OperationalError()
        error.sqlite_errorcode = code
        raise error

    fake_time = SimpleNamespace(monotonic=lambda: clock.now, sleep=advance)
    monkeypatch.setattr(sqlite_ledger, "time", fake_time)
    with pytest.raises(sqlite3.OperationalError):
        sqlite_ledger._use_wal(cast(Any, SimpleNamespace(execute=execute)))
    assert clock.now == seconds


def test_record_with_a_number_that_json_lacks_fails_alone(ledger: SqliteLedger) -> None:
    assert ledger._connection is not None
    batch = [replace(RECORD, id=f"{n}", result={"n": n}) for n in (1.0, math.nan, 3.0)]
    failed = sqlite_ledger._write_all(ledger._connection, batch)
    assert [*failed] == [1] and isinstance(failed[1].__cause__, ValueError)


def test_ledger_retention_runs_every_hour_and_logs_its_results(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "toolcast.ledger")
    gone = [2, 0, LedgerError("away")]
    waited: list[float] = []

    def remove_old(*_: Any) -> int:
        item_ = gone.pop(0)
        if isinstance(item_, Exception):
            raise item_
        return item_

    def wait(seconds: float) -> bool:
        waited.append(seconds)
        return not gone

    monkeypatch.setattr(tables, "remove_old", remove_old)
    sweeping = tables._Sweeper(LedgerSettings("toys", "NO_LEDGER", "x", keep="1h"))
    ended: Any = SimpleNamespace(wait=wait)
    sweeping.ended = ended
    sweeping.run()
    assert sweeping.daemon
    assert waited == [3600.0] * 3
    assert [item_.getMessage() for item_ in caplog.records] == [
        "removed 2 rows older than 1h",
        "rows older than 1h cannot be removed: away",
    ]


def test_http_sink_for_ledger_records_retries_with_increasing_delays(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    waited: list[float] = []
    fails = [True] * 9 + [False, True, False]

    class StopSinkError(BaseException):
        pass

    def post_all(_: Any) -> None:
        if not fails:
            raise StopSinkError
        if fails.pop(0):
            raise LedgerError("away")

    news: Any = SimpleNamespace(clear=lambda: None, wait=waited.append)
    sink._wake_event = news
    monkeypatch.setattr(sink, "_post_all", post_all)
    test_thread, sleep = threading.current_thread(), time.sleep

    def record_sleep(seconds: float) -> None:
        # Threads of other sinks in this process may sleep, too.
        if threading.current_thread() is test_thread:
            slept.append(seconds)
        else:
            sleep(seconds)

    monkeypatch.setattr(http_sink.time, "sleep", record_sleep)
    with pytest.raises(StopSinkError):
        sink._run()
    assert slept == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 0.5]
    assert waited == [5.0, 5.0]


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    made = SqliteLedger(tmp_path / "calls.sqlite3")
    connection, failed = made._write_batch(None, [RECORD])
    assert failed == {}
    made._connection = connection
    yield made
    assert connection is not None
    connection.close()


def test_ledger_record_up_to_65536_characters_is_committed_without_thread(
    ledger: SqliteLedger,
) -> None:
    """The limit is for all texts of the record together."""
    record = replace(RECORD, id="2", toolset="t", tool="s", started="", error="")
    rest = sum(len(v) for v in records.get_column_values(record) if isinstance(v, str))
    for excess, is_at_once in ((1, False), (0, True)):
        before = ledger._in_log
        written = replace(record, error="x" * ((1 << 16) + excess - rest))
        assert ledger._write_at_once(written) is is_at_once
        assert ledger._in_log - before == (2 * 4096 + (1 << 16)) * is_at_once


def test_sqlite_write_ahead_log_over_16_mebibytes_is_checkpointed(
    ledger: SqliteLedger,
) -> None:
    assert ledger._connection is not None
    for size, left in ((1 << 24, 1 << 24), ((1 << 24) + 1, 0)):
        ledger._in_log = size
        assert ledger._write_at_once(replace(RECORD, id="2")) is bool(left)
        ledger._in_log = size
        ledger._make_room(ledger._connection)
        assert ledger._in_log == left


def test_ledger_batch_counts_in_write_ahead_log_size(ledger: SqliteLedger) -> None:
    ledger._in_log = 0
    many = [replace(RECORD, id=str(n)) for n in range(3)]
    ledger._write_batch(ledger._connection, many)
    assert ledger._in_log == 3 * 2 * 4096


def test_ledger_retention_does_not_create_a_ledger_file(tmp_path: Path) -> None:
    settings = LedgerSettings("toys", "NO_LEDGER", str(tmp_path / "none"), keep="1h")
    assert tables.remove_old(settings, threading.Event(), NOW) == 0
    assert not settings.get_file().exists()


def test_ledger_retention_time_is_parsed_in_hours_and_days() -> None:
    assert tables._parse_duration("36h") == timedelta(hours=36)
    assert tables._parse_duration("7d") == timedelta(days=7)


def test_retention_pauses_after_full_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [500, 500, 499, 500, 0]
    parameters: list[Any] = []

    def delete_rows(_: Any, old: Any, values: list[str]) -> int:
        parameters.append(values)
        return left.pop(0)

    waited: list[float] = []
    # The event's `wait` returns None, so its end is not requested.
    ended: Any = SimpleNamespace(wait=waited.append)
    monkeypatch.setattr(tables, "_delete_rows", delete_rows)
    settings = LedgerSettings("toys", "NO_LEDGER", "x", keep="1h")
    assert tables.remove_old(settings, ended, NOW) == 1_999
    assert waited == [0.1, 0.1, 0.1]
    hour, month = "2026-11-23T11:00:00.000000+00:00", "2026-10-24T12:00:00.000000+00:00"
    assert parameters == [["toys", hour]] * 3 + [["toys", hour, month]] * 2


@pytest.fixture
def sink(tmp_path: Path) -> HttpSink:
    return HttpSink("http://sink.test", outbox=tmp_path / "outbox.sqlite3")


class Chunks(httpx.SyncByteStream):
    """An answer of this many times 32 KiB that counts the read chunks."""

    def __init__(self, count: int) -> None:
        self.count, self.read = count, 0

    def __iter__(self) -> Iterator[bytes]:
        for _ in range(self.count):
            self.read += 1
            yield bytes(1 << 15)


@pytest.mark.parametrize(
    ("status", "found"),
    [
        *((status, status) for status in (400, 409, 413, 415, 422)),
        *((status, None) for status in (200, 299)),
        *(
            (status, "raised")
            for status in (300, 401, 404, 408, 412, 414, 421, 429, 500)
        ),
    ],
)
def test_http_status_decides_whether_the_sink_removes_keeps_or_retries_a_record(
    sink: HttpSink, status: int, found: Any
) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(status, stream=Chunks(0))

    row = {"id": "7", "text": "\u00fc\ud800"}
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        if found == "raised":
            with pytest.raises(LedgerError, match=f"HTTP status {status}"):
                sink._post_row(client, row)
        else:
            assert sink._post_row(client, row) == found
    assert asked[0].headers["idempotency-key"] == "7"
    assert asked[0].content == b'{"id": "7", "text": "\xc3\xbc\\ud800"}'


def test_http_sink_reads_a_response_up_to_64_kibibytes(sink: HttpSink) -> None:
    chunks = Chunks(100)

    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=chunks))
    with httpx.Client(transport=transport) as client:
        assert sink._post_row(client, {"id": "7"}) is None
    assert chunks.read == 3


def test_http_sink_claims_a_record_for_four_request_timeouts(
    sink: HttpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No other process posts it meanwhile. A call without an end waits for an hour."""
    clock = NOW.timestamp()
    monkeypatch.setattr(http_sink.time, "time", lambda: clock)

    class Now(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return NOW

    monkeypatch.setattr(http_sink, "datetime", Now)

    with closing(open_connection(sink._outbox)) as outbox:
        outbox.execute(http_sink._CLAIMS)
        for id_, minutes, outcome in (
            ("a", 59.9, "started"),
            ("b", 60.1, "started"),
            ("c", 0, "ok"),
        ):
            start = (NOW - timedelta(minutes=minutes)).isoformat(
                timespec="microseconds"
            )
            row = replace(RECORD, id=id_, started=start, outcome=outcome)
            outbox.execute(records.WRITTEN, records.get_column_values(row))

        def claim_id() -> Any:
            found = http_sink._claim_row(outbox, 10.0)
            return found and found["id"]

        assert [claim_id() for _ in range(3)] == ["b", "c", None]
        clock += 40.0
        assert claim_id() is None
        clock += 0.1
        assert claim_id() == "b"
        assert http_sink._count(outbox) == 1
        assert sink._count_open_rows() == 1
        outbox.execute("UPDATE claims SET status = 400 WHERE id = 'c'")
        assert sink._count_open_rows() == 0


def test_http_sink_logs_each_reason_for_waiting_records_once(
    sink: HttpSink, caplog: pytest.LogCaptureFixture
) -> None:
    connect_error = httpx.ConnectError("http://secret@sink.test")
    full = [LedgerError("it is full"), LedgerError("it is full")]
    for error in (*full, connect_error, LookupError("SINK is not set")):
        sink._log_error_once(error)
    messages = [item_.getMessage().rpartition(": ")[2] for item_ in caplog.records]
    assert messages == ["it is full", "ConnectError", "SINK is not set"]


@pytest.mark.parametrize(
    ("process", "rows", "slept"), [(1, 1, 10.0), (0, 1, 0.0), (1, 0, 0.0)]
)
async def test_http_sink_close_waits_10_seconds_for_unposted_records(
    sink: HttpSink,
    monkeypatch: pytest.MonkeyPatch,
    process: int,
    rows: int,
    slept: float,
) -> None:
    delays: list[float] = []

    async def sleep(seconds: float) -> None:
        delays.append(seconds)

    now: Any = SimpleNamespace(monotonic=lambda: 100.0 + sum(delays))
    monkeypatch.setattr(http_sink, "time", now)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(sink, "_count_open_rows", lambda: rows)
    sink._process = process
    await sink.close()
    assert {*delays} == ({0.02} if slept else set())
    assert sum(delays) == pytest.approx(slept, abs=0.03)
