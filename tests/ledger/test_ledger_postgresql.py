"""The ledger and its approvals in a PostgreSQL database: the contract of the SQLite file."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.test_ledger_processes import PROGRAM, ROOT
from tests.postgres import postgres_server
from tests.runtime.kept_ledger import Kept
from toolcast_runtime.core.calls.tool_calls import ToolCalls
from toolcast_runtime.core.context import Caller, calling_as
from toolcast_runtime.core.question import PendingQuestion
from toolcast_runtime.ledger import LedgerError, LedgerSettings, Record, records
from toolcast_runtime.ledger.recorder import open_ledger
from toolcast_runtime.ledger.tables import ApprovalsTable, remove_old

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.skipif(
    not os.environ.get("TOOLCAST_TEST_POSTGRES"), reason="make test-postgres"
)

NUMBERS = count()
SETTINGS = LedgerSettings("toys", "TOYS_LEDGER")
STARTED = Record("1", "toys", "spin", None, "2026-01-01", {"times": 2}, user="mia")
ENDED = replace(STARTED, outcome="ok", result=[1], error="a\0b", seconds=0.5)
OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres_server("admin") as urls:
        yield urls["admin"]


def asked_of(url: str, statement: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(statement)
        return list(found) if found.description else []


@pytest.fixture
def url(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of an empty database, which the environment names."""
    name = f"t{next(NUMBERS)}"
    asked_of(server, f"CREATE DATABASE {name}")
    url = server.replace("/admin", f"/{name}")
    monkeypatch.setenv("TOYS_LEDGER", url)
    return url


class InDatabase(Kept):
    """A ledger in a database, with calls that go to it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.settings = SETTINGS
        self.calls = ToolCalls(SETTINGS, "tests")

    def rows(self) -> list[dict[str, Any]]:
        with psycopg.connect(self.url) as connection:
            found = connection.cursor(row_factory=psycopg.rows.dict_row)
            return list(found.execute("SELECT * FROM calls ORDER BY id"))


async def test_a_row_says_what_was_called(url: str, handlers: Any) -> None:
    handlers.echo = lambda arguments, /: arguments
    kept = InDatabase(url)
    hostile = "'; DROP TABLE calls; -- %s ? \\ \" \0 \u202e"
    schema = {"type": "object", "properties": {"key": {"writeOnly": True}}}
    with calling_as(Caller(user="mia\0\ud800")):
        await kept.call("echo", {"text": hostile, "key": "hunter2"}, schema=schema)
    handlers.echo = lambda: 1 / 0
    assert not (await InDatabase(url).call("echo", client="%s?")).success
    await kept.calls.close()
    first, second = kept.rows()
    assert (first["user"], first["outcome"]) == ("mia\\x00\\ud800", "ok")
    assert "hunter2" not in first["arguments"]
    assert "DROP TABLE calls; -- %s ? " in first["result"]
    assert first["seconds"] < 1
    assert (second["client"], second["outcome"]) == ("%s?", "error")


async def test_check_writes_and_rolls_back_a_row(url: str) -> None:
    ledger = open_ledger(SETTINGS)
    await ledger.check()
    assert InDatabase(url).rows() == []
    (database,) = asked_of(url, "SELECT current_database()")[0]
    asked_of(url, f"ALTER DATABASE {database} SET default_transaction_read_only = on")
    with pytest.raises(LedgerError, match="read-only transaction"):
        await ledger.check()
    asked_of(
        url.replace(f"/{database}", "/admin"),
        f"ALTER DATABASE {database} SET default_transaction_read_only = off",
    )
    await ledger.check()
    asked_of(url, "ALTER TABLE calls RENAME COLUMN seconds TO minutes")
    with pytest.raises(LedgerError, match="seconds"):
        await ledger.check()


async def test_a_row_is_written_once_whatever_is_sent_again(url: str) -> None:
    ledger = open_ledger(SETTINGS)
    for record in (STARTED, ENDED, ENDED, STARTED):
        await ledger.write(record)
    ledger.write_soon(ENDED)
    await ledger.close()
    [row] = InDatabase(url).rows()
    assert (row["outcome"], row["result"], row["error"]) == ("ok", "[1]", "a\\x00b")
    assert (row["user"], row["seconds"]) == ("mia", 0.5)


async def test_a_record_that_no_row_takes_fails_alone(url: str) -> None:
    ledger = open_ledger(SETTINGS)
    records = [replace(STARTED, id=f"{n}") for n in range(9)]
    records[4] = replace(STARTED, id="\ud800")
    done = await asyncio.gather(*map(ledger.write, records), return_exceptions=True)
    await ledger.close()
    assert [type(d) for d in done if d is not None] == [LedgerError]
    assert len(InDatabase(url).rows()) == 8


async def test_a_call_goes_on_though_its_connection_broke(
    url: str, handlers: Any
) -> None:
    handlers.breaks = lambda: len(
        asked_of(url, f"SELECT pg_terminate_backend(pid) {OTHERS}")
    )
    kept = InDatabase(url)
    for _ in range(3):
        assert (await kept.call("breaks")).result == 1
    await kept.calls.close()
    assert [row["outcome"] for row in kept.rows()] == ["ok"] * 3


async def test_the_last_rows_are_written_though_their_connection_broke(
    url: str,
) -> None:
    ledger = open_ledger(SETTINGS)
    await ledger.write(STARTED)
    asked_of(url, f"SELECT pg_terminate_backend(pid) {OTHERS}")
    ledger.write_soon(ENDED)
    await ledger.close()
    assert [row["outcome"] for row in InDatabase(url).rows()] == ["ok"]


async def test_ending_does_not_wait_for_a_database_that_is_gone(
    url: str, server: str
) -> None:
    ledger = open_ledger(SETTINGS)
    await ledger.write(STARTED)
    name = url.rpartition("/")[2]
    asked_of(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    asked_of(
        server,
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
    )
    ledger.write_soon(ENDED)
    await asyncio.wait_for(ledger.close(), 2)


async def test_a_database_that_is_started_again_costs_no_call(
    url: str, server: str, handlers: Any
) -> None:
    """Calls that run wait for it, and so do those that begin."""
    begun = threading.Event()
    name = url.rpartition("/")[2]

    async def work() -> int:
        begun.set()
        await asyncio.sleep(0.5)
        return 1

    handlers.work = work
    kept = InDatabase(url)
    assert (await kept.call("work")).success
    begun.clear()
    running = [asyncio.create_task(kept.call("work")) for _ in range(3)]
    await asyncio.to_thread(begun.wait, 10)
    asked_of(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    asked_of(
        server,
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
    )
    begins = asyncio.create_task(kept.call("work"))
    await asyncio.sleep(1.5)
    assert not any(task.done() for task in (*running, begins))
    asked_of(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert all(r.success for r in await asyncio.gather(*running, begins))
    await kept.calls.close()
    assert [row["outcome"] for row in kept.rows()] == ["ok"] * 5


async def test_what_ended_while_the_database_was_away_is_recorded_when_it_is_back(
    url: str, server: str, handlers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longer than calls wait for it."""
    ledger = "toolcast_runtime.ledger.postgresql_ledger"
    monkeypatch.setattr(f"{ledger}._RECONNECT_TIMEOUT_S", 0.2)
    monkeypatch.setattr(records, "_RETRY_INTERVAL_S", 0.1)
    name = url.rpartition("/")[2]

    def work() -> int:
        asked_of(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        asked_of(
            server,
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
        )
        return 1

    handlers.work = work
    kept = InDatabase(url)
    assert (await kept.call("work")).success
    assert "the ledger cannot be written" in ((await kept.call("work")).error or "")
    asked_of(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    async with asyncio.timeout(20):
        while [row["outcome"] for row in kept.rows()] != ["ok"]:
            await asyncio.sleep(0.1)
    await kept.calls.close()


async def test_without_a_database_no_call_happens_until_it_is_there(
    url: str, server: str, handlers: Any
) -> None:
    ran: list[int] = []
    handlers.work = lambda: ran.append(1)
    name = url.rpartition("/")[2]
    asked_of(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    kept = InDatabase(url)
    with pytest.raises(LedgerError, match="cannot be used"):
        await kept.calls.check_ledger()
    answer = await asyncio.wait_for(kept.call("work"), 2)
    assert "the ledger cannot be written" in (answer.error or "")
    assert ran == []
    asked_of(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    await kept.calls.check_ledger()
    assert (await kept.call("work")).success
    await kept.calls.close()
    assert [row["outcome"] for row in kept.rows()] == ["ok"]


async def test_a_process_has_few_connections_and_closes_them(
    url: str, handlers: Any
) -> None:
    seen: list[int] = []

    def counts() -> None:
        ours = f"SELECT count(*) {OTHERS} AND application_name = 'toolcast ledger'"
        seen.append(asked_of(url, ours)[0][0])

    handlers.work = lambda: counts()
    kept = InDatabase(url)
    table = ApprovalsTable(SETTINGS)
    await asyncio.gather(
        *(kept.call("work") for _ in range(40)),
        *(table.claim_round(f"{number}") for number in range(40)),
    )
    assert len(seen) == 40 and 1 < max(seen) <= 5
    await kept.calls.close()
    for _ in range(50):
        if not asked_of(url, f"SELECT 1 {OTHERS}"):
            break
        await asyncio.sleep(0.1)
    else:
        pytest.fail("a connection is left open")
    assert len(kept.rows()) == 40


TAKES = """
import asyncio
from toolcast_runtime.ledger import LedgerSettings
from toolcast_runtime.ledger.tables import ApprovalsTable
table = ApprovalsTable(LedgerSettings("toys", "TOYS_LEDGER"))
async def take():
    print(*[await table.claim_round(f"{number}") for number in range(10)])
asyncio.run(take())
"""


async def test_an_answer_is_taken_by_one_process(url: str) -> None:
    table = ApprovalsTable(SETTINGS)
    for number in range(10):
        asked = PendingQuestion(
            f"{number}", "sure", "spin", None, "mia", "Sure? \0", {}, {}, "2026"
        )
        await table.record_question(asked)
    words = [sys.executable, "-c", TAKES]
    run = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    taken = [process.communicate(timeout=60)[0].split() for process in run]
    assert [sorted(each) for each in zip(*taken, strict=True)] == [
        ["False", "False", "True"]
    ] * 10
    await table.release_round("3")
    assert await table.claim_round("3")
    await table.record_answer("3", "sure", "accept")
    assert asked_of(url, "SELECT action FROM approvals WHERE round = '3'") == [
        ("accept",)
    ]


async def test_processes_make_the_tables_at_the_same_time(url: str) -> None:
    ledgers = [open_ledger(SETTINGS) for _ in range(12)]
    await asyncio.gather(
        *(each.write(replace(STARTED, id=f"{n}")) for n, each in enumerate(ledgers))
    )
    await asyncio.gather(*(each.close() for each in ledgers))
    assert len(InDatabase(url).rows()) == 12
    indexes = "SELECT indexname FROM pg_indexes WHERE tablename = 'calls' ORDER BY 1"
    assert asked_of(url, indexes) == [("calls_pkey",), ("calls_started",)]


@pytest.mark.parametrize(
    ("comment", "why"),
    [
        ("'Toolcast ledger, version 9'", "by a newer version"),
        ("NULL", "does not belong to a ledger"),
        ("'Toolcast ledger, version x'", "does not belong to a ledger"),
    ],
)
async def test_tables_of_others_are_left_alone(
    url: str, comment: str, why: str
) -> None:
    asked_of(url, "CREATE TABLE calls (id TEXT PRIMARY KEY)")
    asked_of(url, f"COMMENT ON TABLE calls IS {comment}")
    with pytest.raises(LedgerError) as failed:
        await open_ledger(SETTINGS).write(STARTED)
    assert why in str(failed.value.__cause__)
    assert InDatabase(url).rows() == []


async def test_a_schema_of_its_own_lets_the_others_be(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_of(url, "CREATE TABLE calls (number INT)")
    asked_of(url, "CREATE SCHEMA ledger")
    monkeypatch.setenv("TOYS_LEDGER", f"{url}?options=-csearch_path%3Dledger")
    ledger = open_ledger(SETTINGS)
    await ledger.write(STARTED)
    await ledger.close()
    assert asked_of(url, "SELECT id FROM ledger.calls") == [("1",)]


async def test_who_may_write_rows_needs_no_more_rights(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await open_ledger(SETTINGS).write(STARTED)
    role = url.rpartition("/")[2]
    asked_of(url, f"CREATE ROLE {role} LOGIN")
    asked_of(url, f"GRANT SELECT, INSERT, UPDATE ON calls, approvals TO {role}")
    monkeypatch.setenv("TOYS_LEDGER", url.replace("//ren@", f"//{role}@"))
    ledger = open_ledger(SETTINGS)
    await ledger.write(ENDED)
    await ledger.close()
    assert not await ApprovalsTable(SETTINGS).claim_round("none")
    assert [row["outcome"] for row in InDatabase(url).rows()] == ["ok"]


def test_a_killed_process_loses_no_call_that_it_answered(
    url: str, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "KIRISHIMA_LEDGER": url,
        "KIRISHIMA_DATA": str(tmp_path),
    }
    words = [sys.executable, "-c", PROGRAM, "killed"]
    process = subprocess.Popen(
        words, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    answered = [process.stdout.readline() for _ in range(25)]
    process.send_signal(signal.SIGKILL)
    answered += process.stdout.read().splitlines()
    process.wait()
    process.stdout.close()
    rows = InDatabase(url).rows()
    ended = [row for row in rows if row["outcome"] == "ok"]
    assert len(ended) >= len(answered) >= 25
    assert len(rows) - len(ended) <= 1


def test_a_forked_process_connects_itself(url: str, handlers: Any) -> None:
    handlers.echo = lambda: 1
    kept = InDatabase(url)
    assert asyncio.run(kept.call("echo")).success
    child = os.fork()
    if child == 0:
        answered = asyncio.run(kept.call("echo")).success
        asyncio.run(kept.calls.close())
        os._exit(0 if answered else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert asyncio.run(kept.call("echo")).success
    asyncio.run(kept.calls.close())
    assert [row["outcome"] for row in kept.rows()] == ["ok"] * 3


async def test_rows_go_when_they_are_older_than_the_toolset_says(url: str) -> None:
    settings = replace(SETTINGS, keep="90d")
    ledger = open_ledger(settings)
    old = [replace(ENDED, id=f"{number:03}") for number in range(600)]
    other = replace(ENDED, id="other", toolset="other")
    new = replace(ENDED, id="new", started="2026-11-01")
    await asyncio.gather(*map(ledger.write, [*old, other, new]))
    await ledger.close()
    table = ApprovalsTable(SETTINGS)
    for round_, month in (("taken", "05"), ("open", "05"), ("waits", "11")):
        asked = f"2026-{month}-20"
        await table.record_question(
            PendingQuestion(round_, "1", "spin", None, None, "Sure?", {}, {}, asked)
        )
    assert await table.claim_round("taken")
    now = datetime(2026, 11, 23, tzinfo=UTC)
    gone = await asyncio.to_thread(remove_old, settings, threading.Event(), now)
    assert [row["id"] for row in InDatabase(url).rows()] == ["new", "other"]
    assert (
        gone,
        await table.claim_round("open"),
        await table.claim_round("waits"),
    ) == (
        602,
        False,
        True,
    )
