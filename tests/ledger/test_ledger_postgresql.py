"""The ledger and its approvals in a PostgreSQL database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.examples.ren.postgres import Unavailable, postgres_server
from toolcast_runtime.consent.approvals import Asked
from toolcast_runtime.ledger import LedgerError, LedgerSettings, Record
from toolcast_runtime.ledger.approvals_table import ApprovalsTable
from toolcast_runtime.ledger.ledger import open_ledger

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.slow

STARTED = Record("1", "toys", "spin", None, "2026-01-01", {"times": 2})
ENDED = replace(STARTED, outcome="ok", result=[1], error="a\0b", seconds=0.5)
FAMILY = LedgerSettings("toys", "TOYS_LEDGER")


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    try:
        with postgres_server("ledger") as urls:
            monkeypatch.setenv("TOYS_LEDGER", urls["ledger"])
            yield urls["ledger"]
    except Unavailable as error:
        pytest.skip(str(error))


def asked_of(url: str, statement: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        return list(connection.execute(statement))


async def test_a_call_is_recorded_though_its_connection_broke(url: str) -> None:
    ledger = open_ledger(FAMILY)
    await asyncio.gather(*(ledger.write(replace(STARTED, id=f"{n}")) for n in range(9)))
    asked_of(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = 'ledger' AND pid <> pg_backend_pid()",
    )
    await asyncio.gather(*(ledger.write(replace(ENDED, id=f"{n}")) for n in range(9)))
    await ledger.close()
    assert asked_of(
        url, "SELECT DISTINCT outcome, result, error, seconds FROM calls"
    ) == [("ok", "[1]", "a\\x00b", 0.5)]
    assert asked_of(url, "SELECT count(*) FROM calls") == [(9,)]


async def test_a_round_is_taken_once_by_all(url: str) -> None:
    tables = [ApprovalsTable(FAMILY) for _ in range(4)]
    await tables[0].begin(Asked("round", "sure", "spin", None, "Sure?", {}, "2026"))
    assert sorted(await asyncio.gather(*(t.take("round") for t in tables))) == [
        False,
        False,
        False,
        True,
    ]


async def test_a_database_that_is_away_takes_no_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOYS_LEDGER", "postgresql://me:hidden@127.0.0.1:1/none")
    with pytest.raises(LedgerError, match="cannot be written"):
        await open_ledger(FAMILY).write(STARTED)
