"""Records of persistent tools: each outcome is recorded, or the call is refused."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.kept_ledger import Kept
from toolcast_runtime import CallContext, ToolError, ToolResponse
from toolcast_runtime.core.calls.tool_calls import ToolCalls
from toolcast_runtime.core.definitions.tool import Tool


async def test_call_is_recorded_in_one_row(kept: Kept, handlers: Any) -> None:
    handlers.echo = lambda arguments, /: {"got": arguments}
    arguments = {"b": None, "a": [1, 2.0, "é\u2028"]}
    assert (await kept.call("echo", arguments, "copilot")).success
    await kept.calls.close()
    (row,) = kept.rows()
    assert (row["toolset"], row["tool"], row["client"]) == ("toys", "echo", "copilot")
    assert row["outcome"] == "ok"
    assert json.loads(row["arguments"]) == arguments
    assert json.loads(row["result"]) == {"got": arguments}
    assert row["error"] is None
    assert row["seconds"] > 0
    assert row["started"].endswith("+00:00")


async def test_every_outcome_is_recorded(kept: Kept, handlers: Any) -> None:
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
    handlers.picture = lambda: ToolResponse(content=[{"type": "text", "text": "hi"}])
    strict = {"type": "object", "additionalProperties": False}
    await kept.call("broken")
    await kept.call("refuses")
    await kept.call("hangs", timeout=0.05)
    await kept.call("hangs_in_thread", timeout=0.05)
    goes_on.set()
    await kept.call("odd")
    await kept.call("picture")
    await kept.call("gone")
    await kept.call("refuses", {"x": 1}, schema=strict)
    await kept.calls.close()
    rows = kept.rows()
    assert [(row["tool"], row["outcome"]) for row in rows] == [
        ("broken", "error"),
        ("refuses", "error"),
        ("hangs", "timeout"),
        ("hangs_in_thread", "timeout"),
        ("odd", "error"),
        ("picture", "ok"),
        ("gone", "error"),
        ("refuses", "invalid"),
    ]
    assert "hunter2" not in str(rows)
    assert rows[1]["error"] == "not today"
    assert json.loads(rows[5]["result"]) == {
        "content": [{"type": "text", "text": "hi"}]
    }
    assert json.loads(rows[7]["arguments"]) == {"x": 1}


async def test_cancelled_call_is_recorded(kept: Kept, handlers: Any) -> None:
    started = asyncio.Event()

    async def waits() -> None:
        started.set()
        await asyncio.sleep(60)

    handlers.waits = waits
    task = asyncio.create_task(kept.call("waits"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await kept.calls.close()
    (row,) = kept.rows()
    assert row["outcome"] == "cancelled"


async def test_identical_concurrent_calls_are_recorded_separately(
    kept: Kept, handlers: Any
) -> None:
    handlers.echo = lambda arguments, /: arguments
    answers = await asyncio.gather(*(kept.call("echo", {"n": 1}) for _ in range(50)))
    assert all(answer.success for answer in answers)
    await kept.calls.close()
    rows = kept.rows()
    assert len(rows) == len({row["id"] for row in rows}) == 50
    assert {row["outcome"] for row in rows} == {"ok"}


async def test_start_is_recorded_before_the_handler_runs(
    kept: Kept, handlers: Any
) -> None:
    seen: list[Any] = []
    handlers.looks = lambda: seen.extend(kept.rows())
    await kept.call("looks")
    (row,) = seen
    assert (row["outcome"], row["seconds"], row["result"]) == ("started", None, None)


async def test_call_is_refused_if_the_ledger_cannot_be_written(
    tmp_path: Path, handlers: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ran: list[int] = []
    handlers.work = lambda: ran.append(1)
    (tmp_path / "file").write_text("no folder")
    no_folder = Kept(tmp_path / "file" / "ledger.sqlite3")
    (tmp_path / "text.sqlite3").write_text("this is no database at all\n" * 100)
    no_database = Kept(tmp_path / "text.sqlite3")
    for kept in (no_folder, no_database):
        response = await kept.call("work")
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


async def test_result_is_returned_and_error_logged_if_the_ledger_fails_later(
    kept: Kept, handlers: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks_it() -> str:
        with closing(sqlite3.connect(kept.path)) as connection:
            connection.execute("DROP TABLE calls")
        return "done"

    handlers.breaks_it = breaks_it
    assert (await kept.call("breaks_it")).result == "done"
    assert "is not recorded" in caplog.text
    handlers.echo = lambda arguments, /: arguments
    assert (await kept.call("echo")).success, "the table is created again"


async def test_call_waits_for_a_locked_ledger(kept: Kept, handlers: Any) -> None:
    handlers.echo = lambda arguments, /: arguments
    await kept.call("echo")
    other = sqlite3.connect(kept.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.create_task(kept.call("echo"))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    other.execute("COMMIT")
    other.close()
    assert (await waiting).success


async def test_ledger_has_mode_600_in_a_folder_with_mode_700(
    kept: Kept, handlers: Any
) -> None:
    handlers.echo = lambda arguments, /: arguments
    await kept.call("echo")
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.path.parent.stat().st_mode) == 0o700


async def test_sql_in_values_is_stored_as_text(kept: Kept, handlers: Any) -> None:
    handlers.echo = lambda arguments, /: arguments
    text = "x'); DROP TABLE calls; --\x00\ud800"
    schema = {"type": "object"}
    await kept.call("echo", {"text": text[:-1]}, text[:-2], schema=schema)
    await kept.calls.close()
    (row,) = kept.rows()
    assert json.loads(row["arguments"]) == {"text": text[:-1]}
    assert row["client"] == text[:-2]


async def test_closed_ledger_is_opened_again(kept: Kept, handlers: Any) -> None:
    handlers.echo = lambda arguments, /: arguments
    for _ in range(3):
        await kept.call("echo")
        await kept.calls.close()
    assert len(kept.rows()) == 3


def test_ledger_is_shared_by_event_loops_and_threads(kept: Kept, handlers: Any) -> None:
    handlers.echo = lambda arguments, /: arguments

    def calls() -> None:
        for _ in range(5):
            assert asyncio.run(kept.call("echo")).success

    threads = [threading.Thread(target=calls) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(kept.calls.close())
    assert len(kept.rows()) == 40
