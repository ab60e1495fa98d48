"""The ledger and its approvals in PostgreSQL: the same contract as the SQLite file."""

from __future__ import annotations

import asyncio
import os
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

from tests.ledger.test_ledger_processes import (
    assert_killed_process_loses_no_answered_call,
)
from tests.postgres import postgres_server
from tests.runtime.file_ledger import FileLedger
from tests.waiting import wait_until_async
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


def query_database(url: str, statement: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(statement)
        return list(found) if found.description else []


@pytest.fixture
def url(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Create an empty database and set the environment variable to its URL."""
    name = f"t{next(NUMBERS)}"
    query_database(server, f"CREATE DATABASE {name}")
    url = server.replace("/admin", f"/{name}")
    monkeypatch.setenv("TOYS_LEDGER", url)
    return url


def stop_database(server: str, url: str) -> None:
    """Refuse connections to a database, and end the current ones."""
    name = url.rpartition("/")[2]
    query_database(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
    query_database(server, f"{terminate} '{name}'")


def restart_database(server: str, url: str) -> None:
    name = url.rpartition("/")[2]
    query_database(server, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


class DatabaseLedger(FileLedger):
    """A ledger in a database, and calls that it records."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.settings = SETTINGS
        self.calls = ToolCalls(SETTINGS, "tests")

    def rows(self) -> list[dict[str, Any]]:
        with psycopg.connect(self.url) as connection:
            found = connection.cursor(row_factory=psycopg.rows.dict_row)
            return list(found.execute("SELECT * FROM calls ORDER BY id"))


async def test_database_row_has_escaped_user_and_text(url: str, handlers: Any) -> None:
    handlers.echo = lambda arguments, /: arguments
    database_ledger = DatabaseLedger(url)
    hostile = "'; DROP TABLE calls; -- %s ? \\ \" \0 \u202e"
    schema = {"type": "object", "properties": {"key": {"writeOnly": True}}}
    with calling_as(Caller(user="mia\0\ud800")):
        await database_ledger.call(
            "echo", {"text": hostile, "key": "hunter2"}, schema=schema
        )
    handlers.echo = lambda: 1 / 0
    assert not (await DatabaseLedger(url).call("echo", client="%s?")).success
    await database_ledger.calls.close()
    first, second = database_ledger.rows()
    assert (first["user"], first["outcome"]) == ("mia\\x00\\ud800", "ok")
    assert "hunter2" not in first["arguments"]
    assert "DROP TABLE calls; -- %s ? " in first["result"]
    assert first["seconds"] < 1
    assert (second["client"], second["outcome"]) == ("%s?", "error")


async def test_postgresql_ledger_check_stores_no_row_and_raises_for_an_unusable_table(
    url: str,
) -> None:
    ledger = open_ledger(SETTINGS)
    await ledger.check()
    assert DatabaseLedger(url).rows() == []
    (database,) = query_database(url, "SELECT current_database()")[0]
    query_database(
        url, f"ALTER DATABASE {database} SET default_transaction_read_only = on"
    )
    with pytest.raises(LedgerError, match="read-only transaction"):
        await ledger.check()
    query_database(
        url.replace(f"/{database}", "/admin"),
        f"ALTER DATABASE {database} SET default_transaction_read_only = off",
    )
    await ledger.check()
    query_database(url, "ALTER TABLE calls RENAME COLUMN seconds TO minutes")
    with pytest.raises(LedgerError, match="seconds"):
        await ledger.check()


async def test_repeated_records_of_a_call_are_one_postgresql_row(url: str) -> None:
    ledger = open_ledger(SETTINGS)
    for record in (STARTED, ENDED, ENDED, STARTED):
        await ledger.write(record)
    ledger.write_soon(ENDED)
    await ledger.close()
    [row] = DatabaseLedger(url).rows()
    assert (row["outcome"], row["result"], row["error"]) == ("ok", "[1]", "a\\x00b")
    assert (row["user"], row["seconds"]) == ("mia", 0.5)


async def test_invalid_record_fails_alone_in_the_postgresql_ledger(url: str) -> None:
    ledger = open_ledger(SETTINGS)
    records = [replace(STARTED, id=f"{n}") for n in range(9)]
    records[4] = replace(STARTED, id="\ud800")
    done = await asyncio.gather(*map(ledger.write, records), return_exceptions=True)
    await ledger.close()
    assert [type(d) for d in done if d is not None] == [LedgerError]
    assert len(DatabaseLedger(url).rows()) == 8


async def test_call_succeeds_after_connection_broke(url: str, handlers: Any) -> None:
    handlers.breaks = lambda: len(
        query_database(url, f"SELECT pg_terminate_backend(pid) {OTHERS}")
    )
    database_ledger = DatabaseLedger(url)
    for _ in range(3):
        assert (await database_ledger.call("breaks")).result == 1
    await database_ledger.calls.close()
    assert [row["outcome"] for row in database_ledger.rows()] == ["ok"] * 3


async def test_last_ledger_rows_are_written_after_connection_broke(url: str) -> None:
    ledger = open_ledger(SETTINGS)
    await ledger.write(STARTED)
    query_database(url, f"SELECT pg_terminate_backend(pid) {OTHERS}")
    ledger.write_soon(ENDED)
    await ledger.close()
    assert [row["outcome"] for row in DatabaseLedger(url).rows()] == ["ok"]


async def test_ledger_close_does_not_wait_for_an_unavailable_postgresql_database(
    url: str, server: str
) -> None:
    ledger = open_ledger(SETTINGS)
    await ledger.write(STARTED)
    stop_database(server, url)
    ledger.write_soon(ENDED)
    await asyncio.wait_for(ledger.close(), 2)


async def test_tool_calls_wait_for_a_restarted_ledger_database(
    url: str, server: str, handlers: Any
) -> None:
    begun = threading.Event()

    async def work() -> int:
        begun.set()
        await asyncio.sleep(0.5)
        return 1

    handlers.work = work
    database_ledger = DatabaseLedger(url)
    assert (await database_ledger.call("work")).success
    begun.clear()
    running = [asyncio.create_task(database_ledger.call("work")) for _ in range(3)]
    await asyncio.to_thread(begun.wait, 10)
    stop_database(server, url)
    begins = asyncio.create_task(database_ledger.call("work"))
    await asyncio.sleep(1.5)
    assert not any(task.done() for task in (*running, begins))
    restart_database(server, url)
    assert all(r.success for r in await asyncio.gather(*running, begins))
    await database_ledger.calls.close()
    assert [row["outcome"] for row in database_ledger.rows()] == ["ok"] * 5


async def test_call_end_during_a_database_outage_is_recorded_afterwards(
    url: str, server: str, handlers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outage lasts longer than calls wait."""
    ledger = "toolcast_runtime.ledger.postgresql_ledger"
    monkeypatch.setattr(f"{ledger}._RECONNECT_TIMEOUT_S", 0.2)
    monkeypatch.setattr(records, "_RETRY_INTERVAL_S", 0.1)

    def work() -> int:
        stop_database(server, url)
        return 1

    handlers.work = work
    database_ledger = DatabaseLedger(url)
    assert (await database_ledger.call("work")).success
    refused = await database_ledger.call("work")
    assert "the ledger cannot be written" in (refused.error or "")
    restart_database(server, url)
    await wait_until_async(
        lambda: [row["outcome"] for row in database_ledger.rows()] == ["ok"]
    )
    await database_ledger.calls.close()


async def test_tool_calls_are_refused_while_the_ledger_database_is_unavailable(
    url: str, server: str, handlers: Any
) -> None:
    ran: list[int] = []
    handlers.work = lambda: ran.append(1)
    stop_database(server, url)
    database_ledger = DatabaseLedger(url)
    with pytest.raises(LedgerError, match="cannot be used"):
        await database_ledger.calls.check_ledger()
    answer = await asyncio.wait_for(database_ledger.call("work"), 2)
    assert "the ledger cannot be written" in (answer.error or "")
    assert ran == []
    restart_database(server, url)
    await database_ledger.calls.check_ledger()
    assert (await database_ledger.call("work")).success
    await database_ledger.calls.close()
    assert [row["outcome"] for row in database_ledger.rows()] == ["ok"]


async def test_process_opens_at_most_5_postgresql_ledger_connections(
    url: str, handlers: Any
) -> None:
    """It closes them at its end."""
    seen: list[int] = []

    def counts() -> None:
        ours = f"SELECT count(*) {OTHERS} AND application_name = 'toolcast ledger'"
        seen.append(query_database(url, ours)[0][0])

    handlers.work = counts
    database_ledger = DatabaseLedger(url)
    table = ApprovalsTable(SETTINGS)
    await asyncio.gather(
        *(database_ledger.call("work") for _ in range(40)),
        *(table.claim_round(f"{number}") for number in range(40)),
    )
    assert len(seen) == 40 and 1 < max(seen) <= 5
    await database_ledger.calls.close()
    # The server may close the connections after the client.
    await wait_until_async(lambda: not query_database(url, f"SELECT 1 {OTHERS}"))
    assert len(database_ledger.rows()) == 40


TAKES = """
import asyncio
from toolcast_runtime.ledger import LedgerSettings
from toolcast_runtime.ledger.tables import ApprovalsTable
table = ApprovalsTable(LedgerSettings("toys", "TOYS_LEDGER"))
async def take():
    print(*[await table.claim_round(f"{number}") for number in range(10)])
asyncio.run(take())
"""


async def test_answer_to_a_confirmation_is_claimed_by_one_process(url: str) -> None:
    """The answers are in the table `approvals` of PostgreSQL."""
    table = ApprovalsTable(SETTINGS)
    for number in range(10):
        asked = PendingQuestion(
            f"{number}", "sure", "spin", None, "mia", "Sure? \0", {}, {}, "2026"
        )
        await table.record_question(asked)
    args = [sys.executable, "-c", TAKES]
    run = [subprocess.Popen(args, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    taken = [process.communicate(timeout=60)[0].split() for process in run]
    assert [sorted(each) for each in zip(*taken, strict=True)] == [
        ["False", "False", "True"]
    ] * 10
    await table.release_round("3")
    assert await table.claim_round("3")
    await table.record_answer("3", "sure", "accept")
    assert query_database(url, "SELECT action FROM approvals WHERE round = '3'") == [
        ("accept",)
    ]


async def test_concurrent_postgresql_ledgers_create_the_tables_once(url: str) -> None:
    ledgers = [open_ledger(SETTINGS) for _ in range(12)]
    writes = [one.write(replace(STARTED, id=f"{n}")) for n, one in enumerate(ledgers)]
    await asyncio.gather(*writes)
    await asyncio.gather(*(ledger.close() for ledger in ledgers))
    assert len(DatabaseLedger(url).rows()) == 12
    indexes = "SELECT indexname FROM pg_indexes WHERE tablename = 'calls' ORDER BY 1"
    assert query_database(url, indexes) == [("calls_pkey",), ("calls_started",)]


@pytest.mark.parametrize(
    ("comment", "why"),
    [
        ("'Toolcast ledger, version 9'", "by a newer version"),
        ("NULL", "does not belong to a ledger"),
        ("'Toolcast ledger, version x'", "does not belong to a ledger"),
    ],
)
async def test_postgresql_ledger_refuses_foreign_tables_without_changing_them(
    url: str, comment: str, why: str
) -> None:
    query_database(url, "CREATE TABLE calls (id TEXT PRIMARY KEY)")
    query_database(url, f"COMMENT ON TABLE calls IS {comment}")
    with pytest.raises(LedgerError) as failed:
        await open_ledger(SETTINGS).write(STARTED)
    assert why in str(failed.value.__cause__)
    assert DatabaseLedger(url).rows() == []


async def test_postgresql_ledger_uses_its_own_database_schema(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query_database(url, "CREATE TABLE calls (number INT)")
    query_database(url, "CREATE SCHEMA ledger")
    monkeypatch.setenv("TOYS_LEDGER", f"{url}?options=-csearch_path%3Dledger")
    ledger = open_ledger(SETTINGS)
    await ledger.write(STARTED)
    await ledger.close()
    assert query_database(url, "SELECT id FROM ledger.calls") == [("1",)]


async def test_postgresql_ledger_role_needs_only_select_insert_and_update(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await open_ledger(SETTINGS).write(STARTED)
    role = url.rpartition("/")[2]
    query_database(url, f"CREATE ROLE {role} LOGIN")
    query_database(url, f"GRANT SELECT, INSERT, UPDATE ON calls, approvals TO {role}")
    monkeypatch.setenv("TOYS_LEDGER", url.replace("//ren@", f"//{role}@"))
    ledger = open_ledger(SETTINGS)
    await ledger.write(ENDED)
    await ledger.close()
    assert not await ApprovalsTable(SETTINGS).claim_round("none")
    assert [row["outcome"] for row in DatabaseLedger(url).rows()] == ["ok"]


def test_killed_process_loses_no_postgresql_call(url: str, tmp_path: Path) -> None:
    assert_killed_process_loses_no_answered_call(DatabaseLedger(url), url, tmp_path)


def test_forked_process_opens_own_database_connection(url: str, handlers: Any) -> None:
    handlers.echo = lambda: 1
    database_ledger = DatabaseLedger(url)
    assert asyncio.run(database_ledger.call("echo")).success
    child = os.fork()
    if child == 0:
        answered = asyncio.run(database_ledger.call("echo")).success
        asyncio.run(database_ledger.calls.close())
        os._exit(0 if answered else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert asyncio.run(database_ledger.call("echo")).success
    asyncio.run(database_ledger.calls.close())
    assert [row["outcome"] for row in database_ledger.rows()] == ["ok"] * 3


async def test_postgresql_ledger_rows_older_than_keep_are_removed(url: str) -> None:
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
    assert [row["id"] for row in DatabaseLedger(url).rows()] == ["new", "other"]
    assert gone == 602
    assert not await table.claim_round("open") and await table.claim_round("waits")
