"""The HTTP sink for records, with real endpoints and all kinds of failures."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.file_ledger import HANDLERS, FileLedger
from tests.thread_server import serve_in_threads
from tests.waiting import wait_until_async
from toolcast_runtime.ledger import HttpSink, LedgerError, Record

ROOT = Path(__file__).parents[2]


class Endpoint:
    """The received rows and the answers, by the call's id or for all rows."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.statuses: dict[str, int] = {}
        self.status = 200
        self.url = ""

    def ids(self) -> list[str]:
        return [row["id"] for row in self.rows]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    state = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            row = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status = state.statuses.get(row["id"], state.status)
            if status == 200:
                state.rows.append({**row, "path": self.path})
                state.headers.append({k.lower(): v for k, v in self.headers.items()})
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

    with serve_in_threads(Handler) as url:
        state.url = f"{url}/sync/tool"
        yield state


def make_record(id: str, **more: Any) -> Record:
    fields = {"toolset": "toy", "tool": "echo", "client": "internal", **more}
    start = "2026-03-29T09:00:00.000000+00:00"
    return Record(id=id, started=start, arguments={"a": 1}, **fields)


def make_ended_record(id: str, **more: Any) -> Record:
    fields = {"outcome": "ok", "result": {"b": "ü"}, "seconds": 0.5, **more}
    return make_record(id, **fields)


async def test_http_sink_posts_the_tool_call_record_after_the_call_ends(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SINK_HOST", endpoint.url.removesuffix("/sync/tool"))
    monkeypatch.setenv("SINK_TOKEN", "hunter2")
    sink = HttpSink(
        "${SINK_HOST}/sync/tool",
        outbox=tmp_path / "outbox.sqlite3",
        headers={"Authorization": "Bearer ${SINK_TOKEN}"},
    )
    # Calls that run for an hour are posted before their end, so the start is recent.
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    await sink.write(replace(make_record("1"), started=now))
    threads = [thread for thread in threading.enumerate() if thread.name == "sink"]
    assert all(thread.daemon for thread in threads), "they would prevent process exit"
    await sink.write(replace(make_ended_record("1"), started=now))
    await sink.write(make_ended_record("2", outcome="error", result=None, error="no"))
    await sink.close()
    assert endpoint.rows[0] == {
        "id": "1",
        "toolset": "toy",
        "tool": "echo",
        "client": "internal",
        "user": None,
        "started": now,
        "arguments": {"a": 1},
        "outcome": "ok",
        "result": {"b": "ü"},
        "error": None,
        "seconds": 0.5,
        "path": "/sync/tool",
    }
    assert (endpoint.rows[1]["outcome"], endpoint.rows[1]["error"]) == ("error", "no")
    assert endpoint.headers[0]["authorization"] == "Bearer hunter2"
    assert [headers["idempotency-key"] for headers in endpoint.headers] == ["1", "2"]
    assert sink.waiting() == 0
    assert (tmp_path / "outbox.sqlite3").stat().st_mode & 0o077 == 0


async def test_http_sink_posts_records_in_order_after_temporary_http_errors(
    endpoint: Endpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.status = 503
    sink = HttpSink(endpoint.url, outbox=tmp_path / "outbox.sqlite3")
    for number in range(3):
        await sink.write(make_ended_record(str(number)))
    await wait_until_async(lambda: "the sink returned HTTP status 503" in caplog.text)
    assert (endpoint.rows, sink.waiting()) == ([], 3)
    endpoint.status = 200
    await wait_until_async(lambda: len(endpoint.rows) == 3)
    assert endpoint.ids() == ["0", "1", "2"]
    assert caplog.text.count("they cannot be posted to the sink") == 1


async def test_unreachable_http_sink_endpoint_loses_no_record_and_delays_no_call(
    endpoint: Endpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    outbox = tmp_path / "outbox.sqlite3"
    gone = HttpSink("http://127.0.0.1:9/sync/tool", outbox=outbox)
    begin = time.monotonic()
    await gone.write(make_ended_record("1"))
    assert time.monotonic() - begin < 5
    await wait_until_async(lambda: "posted to the sink: ConnectError" in caplog.text)
    # The next process posts the rows that this one could not post.
    later = HttpSink(endpoint.url, outbox=outbox)
    await later.write(make_ended_record("2"))
    await wait_until_async(lambda: sorted(endpoint.ids()) == ["1", "2"])


async def test_record_refused_with_http_422_stays_in_outbox_without_blocking_others(
    endpoint: Endpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    endpoint.statuses = {"1": 422}
    sink = HttpSink(endpoint.url, outbox=tmp_path / "outbox.sqlite3")
    for number in range(3):
        await sink.write(make_ended_record(str(number)))
    await sink.close()
    assert endpoint.ids() == ["0", "2"]
    assert sink.waiting() == 1
    message = "rejected the record of call 1 with HTTP status 422; the record stays in"
    assert message in caplog.text


async def test_full_outbox_refuses_records(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.status = 503
    sink = HttpSink(endpoint.url, outbox=tmp_path / "o.sqlite3", max_waiting=2)
    await sink.write(make_ended_record("1"))
    await sink.write(make_ended_record("2"))
    with pytest.raises(LedgerError, match="2 rows wait in"):
        await sink.write(make_ended_record("3"))
    endpoint.status = 200
    await wait_until_async(lambda: len(endpoint.rows) == 2)
    await sink.write(make_ended_record("3"))
    await wait_until_async(lambda: endpoint.ids() == ["1", "2", "3"])


async def test_http_sink_record_counted_twice_uses_one_outbox_place(
    endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread can count a row between its commit and the end of `write`."""
    endpoint.status = 503
    sink = HttpSink(endpoint.url, outbox=tmp_path / "o.sqlite3", max_waiting=2)
    write = sink._ledger.write

    async def write_slowly(record: Record) -> None:
        await write(record)
        await wait_until_async(lambda: sink._waiting == sink.waiting())

    monkeypatch.setattr(sink._ledger, "write", write_slowly)
    await sink.write(make_ended_record("1"))
    await sink.write(make_ended_record("2"))
    with pytest.raises(LedgerError, match="2 rows wait in"):
        await sink.write(make_ended_record("3"))


async def test_http_sink_outbox_limit_includes_records_from_earlier_processes(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.status = 503
    outbox = tmp_path / "o.sqlite3"
    before = HttpSink(endpoint.url, outbox=outbox)
    for number in range(3):
        await before.write(make_ended_record(str(number)))
    sink = HttpSink(endpoint.url, outbox=outbox, max_waiting=3)
    await sink.write(make_record("4"))
    await wait_until_async(lambda: sink._waiting == 3)
    with pytest.raises(LedgerError, match="3 rows wait in"):
        await sink.write(make_ended_record("4"))


async def test_http_sinks_with_the_same_outbox_post_each_record_once(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    outbox = tmp_path / "outbox.sqlite3"
    sinks = [HttpSink(endpoint.url, outbox=outbox) for _ in range(3)]
    for number in range(60):
        await sinks[number % 3].write(make_ended_record(f"{number:02}"))
    await sinks[0].close()
    assert sorted(endpoint.ids()) == [f"{number:02}" for number in range(60)]


CHILD = """
import asyncio, sys
from pathlib import Path
from tests.ledger.test_ledger_http_sink import make_ended_record
from toolcast_runtime.ledger import HttpSink

async def main():
    sink = HttpSink("http://127.0.0.1:9/", outbox=Path(sys.argv[1]), timeout=1.0)
    for number in range(20):
        await sink.write(make_ended_record(f"{number:02}"))
    print("written", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_rows_in_a_killed_process_outbox_are_posted_by_the_next_http_sink(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    outbox = tmp_path / "outbox.sqlite3"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(outbox)], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"written\n"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    sink = HttpSink(endpoint.url, outbox=outbox, timeout=0.1)
    await sink.write(make_ended_record("99"))
    await wait_until_async(lambda: len(endpoint.rows) == 21)
    assert sorted(endpoint.ids()) == [*(f"{n:02}" for n in range(20)), "99"]


async def test_tool_call_is_posted_by_a_sink_function_with_an_http_sink(
    endpoint: Endpoint, tmp_path: Path, handlers: Any
) -> None:
    sink = HttpSink(endpoint.url, outbox=tmp_path / "outbox.sqlite3")

    async def record(record: Record) -> None:
        await sink.write(record)

    handlers.record = record
    handlers.echo = lambda: {"said": "hello"}
    file_ledger = FileLedger(tmp_path / "unused", f"{HANDLERS}:record")
    assert (await file_ledger.call("echo")).result == {"said": "hello"}
    await file_ledger.calls.close()
    await sink.close()
    [row] = endpoint.rows
    result = (row["tool"], row["outcome"], row["result"])
    assert result == ("echo", "ok", {"said": "hello"})
