"""Records of persistent tools: each outcome is recorded, or the call is refused."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.file_ledger import FileLedger
from toolcast_runtime import CallContext, ToolError, ToolResponse
from toolcast_runtime.core.calls.tool_calls import ToolCalls
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.ledger import recorder
from toolcast_runtime.ledger.secret_arguments import Redaction


@pytest.fixture(autouse=True)
def echo(handlers: Any) -> None:
    handlers.echo = lambda arguments, /: arguments


async def test_completed_tool_call_is_one_ledger_row(
    file_ledger: FileLedger, handlers: Any
) -> None:
    arguments = {"b": None, "a": [1, 2.0, "é\u2028"]}
    assert (await file_ledger.call("echo", arguments, "copilot")).success
    await file_ledger.calls.close()
    (row,) = file_ledger.rows()
    assert (row["toolset"], row["tool"], row["client"]) == ("toys", "echo", "copilot")
    assert (row["outcome"], row["error"]) == ("ok", None)
    text = json.dumps(arguments, ensure_ascii=False)
    assert row["arguments"] == row["result"] == text
    assert 0 < row["seconds"] < 60
    assert row["started"].endswith("+00:00")


async def test_every_tool_call_outcome_is_recorded_in_the_ledger(
    file_ledger: FileLedger, handlers: Any
) -> None:
    def broken() -> None:
        raise ValueError("password=hunter2")

    def refuses() -> None:
        raise ToolError("not today")

    async def hangs() -> None:
        await asyncio.sleep(60)

    handlers.broken, handlers.refuses, handlers.hangs = broken, refuses, hangs
    # An event, because a fixed sleep could end before a busy machine detects the timeout.
    goes_on = threading.Event()
    handlers.hangs_in_thread = lambda: goes_on.wait(60)
    handlers.odd = lambda: object()
    content = [{"type": "text", "text": "hi"}]
    handlers.picture = lambda: ToolResponse(content=content)
    strict = {"type": "object", "additionalProperties": False}
    await file_ledger.call("broken")
    await file_ledger.call("refuses")
    await file_ledger.call("hangs", timeout=0.05)
    await file_ledger.call("hangs_in_thread", timeout=0.05)
    goes_on.set()
    await file_ledger.call("odd")
    await file_ledger.call("picture")
    await file_ledger.call("gone")
    await file_ledger.call("refuses", {"x": 1}, schema=strict)
    await file_ledger.calls.close()
    rows = file_ledger.rows()
    assert [f"{row['tool']} {row['outcome']}" for row in rows] == [
        *("broken error", "refuses error", "hangs timeout", "hangs_in_thread timeout"),
        *("odd error", "picture ok", "gone error", "refuses invalid"),
    ]
    assert "hunter2" not in str(rows)
    assert rows[1]["error"] == "not today"
    assert json.loads(rows[5]["result"]) == {"content": content}
    assert json.loads(rows[7]["arguments"]) == {"x": 1}


async def test_ledger_records_identical_concurrent_calls_separately(
    file_ledger: FileLedger,
) -> None:
    calls = [file_ledger.call("echo", {"n": 1}) for _ in range(50)]
    assert all(answer.success for answer in await asyncio.gather(*calls))
    await file_ledger.calls.close()
    rows = file_ledger.rows()
    assert len(rows) == len({row["id"] for row in rows}) == 50
    assert {row["outcome"] for row in rows} == {"ok"}


async def test_ledger_records_the_call_start_before_the_handler_runs(
    file_ledger: FileLedger, handlers: Any
) -> None:
    seen: list[Any] = []
    handlers.looks = lambda: seen.extend(file_ledger.rows())
    await file_ledger.call("looks")
    (row,) = seen
    assert (row["outcome"], row["seconds"], row["result"]) == ("started", None, None)


async def test_tool_call_is_refused_if_the_ledger_cannot_be_written(
    tmp_path: Path, handlers: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ran: list[int] = []
    handlers.work = lambda: ran.append(1)
    (tmp_path / "file").write_text("no folder")
    no_folder = FileLedger(tmp_path / "file" / "ledger.sqlite3")
    (tmp_path / "text.sqlite3").write_text("this is no database at all\n" * 100)
    no_database = FileLedger(tmp_path / "text.sqlite3")
    for file_ledger in (no_folder, no_database):
        response = await file_ledger.call("work")
        assert response.error == (
            "the tool is not available: its calls must be recorded, and the ledger"
            " cannot be written; the log says why"
        )
    nowhere = ToolCalls()
    tool = Tool("work", "", "", {"name": "work", "inputSchema": {}}, persistent=True)
    assert not (await nowhere.call(tool, None, {}, CallContext("work"))).success
    assert ran == []
    errors = [r.getMessage() for r in caplog.records if r.levelno == logging.ERROR]
    assert len(errors) == 3


async def test_tool_result_is_returned_if_the_ledger_fails_after_the_call_started(
    file_ledger: FileLedger, handlers: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks_it() -> str:
        with closing(sqlite3.connect(file_ledger.path)) as connection:
            connection.execute("DROP TABLE calls")
        return "done"

    handlers.breaks_it = breaks_it
    assert (await file_ledger.call("breaks_it")).result == "done"
    assert "is not recorded" in caplog.text
    assert (await file_ledger.call("echo")).success, "the table is created again"


async def test_tool_call_waits_for_a_locked_ledger_file(
    file_ledger: FileLedger,
) -> None:
    await file_ledger.call("echo")
    with closing(sqlite3.connect(file_ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.create_task(file_ledger.call("echo"))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        other.execute("COMMIT")
    assert (await waiting).success


async def test_ledger_stores_sql_in_tool_arguments_as_text(
    file_ledger: FileLedger,
) -> None:
    text = "x'); DROP TABLE calls; --\x00\ud800"
    schema = {"type": "object"}
    await file_ledger.call("echo", {"text": text[:-1]}, text[:-2], schema=schema)
    await file_ledger.calls.close()
    (row,) = file_ledger.rows()
    assert json.loads(row["arguments"]) == {"text": text[:-1]}
    assert row["client"] == text[:-2]


async def test_ledger_analyzes_a_tool_schema_for_secrets_only_once(
    file_ledger: FileLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tool of the same name with another schema is analyzed again."""
    schemas: list[Any] = []

    class CountedRedaction(Redaction):
        def __init__(self, schema: Any) -> None:
            schemas.append(schema)
            super().__init__(schema)

    monkeypatch.setattr(recorder, "Redaction", CountedRedaction)
    public = {"type": "object", "properties": {"x": {"type": "string"}}}
    secret = {"properties": {"x": {"type": "string", "format": "password"}}}
    for schema in (public, public, public, secret, secret):
        await file_ledger.call("echo", {"x": "hunter2"}, schema=schema)
    await file_ledger.calls.close()
    assert schemas == [public, secret]
    texts = ["hunter2" in row["arguments"] for row in file_ledger.rows()]
    assert texts == [True, True, True, False, False]


async def test_closed_ledger_is_opened_again_by_the_next_call(
    file_ledger: FileLedger,
) -> None:
    for _ in range(3):
        await file_ledger.call("echo")
        await file_ledger.calls.close()
    assert len(file_ledger.rows()) == 3


def test_calls_from_concurrent_threads_are_all_recorded_in_one_ledger(
    file_ledger: FileLedger,
) -> None:
    def calls() -> None:
        for _ in range(5):
            assert asyncio.run(file_ledger.call("echo")).success

    threads = [threading.Thread(target=calls) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(file_ledger.calls.close())
    assert len(file_ledger.rows()) == 40
