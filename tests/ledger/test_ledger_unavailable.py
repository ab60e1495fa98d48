"""Waiting for an unavailable PostgreSQL database, with simulated connections and clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("psycopg")

from toolcast_runtime.ledger import LedgerError, LedgerSettings, Record
from toolcast_runtime.ledger import postgresql_ledger as there

RECORD = Record("1", "toys", "spin", None, "2026-01-01", {})


class DatabaseGoneError(Exception):
    """Raised when the simulated database does not answer."""


class Database:
    """A simulated database that is unavailable until its clock reaches `back`."""

    def __init__(self) -> None:
        self.now, self.back, self.breaks = 0.0, 0.0, False
        self.slept = list[float]()
        self.connected, self.closed, self.rows = 0, 0, 0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += max(seconds, 0.001)

    def connect(self, _: str) -> Any:
        if self.now < self.back:
            raise DatabaseGoneError
        self.connected += 1
        return self

    def write(self, _: Any, records: list[Record]) -> dict[int, Exception]:
        if self.breaks or self.now < self.back:
            self.breaks = False
            raise DatabaseGoneError
        self.rows += len(records)
        return {}

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    database = Database()
    monkeypatch.setattr(there, "time", database)
    monkeypatch.setattr(there, "open_connection", database.connect)
    monkeypatch.setattr(there, "_write_all", database.write)
    return database


@pytest.fixture
async def ledger(database: Database) -> AsyncIterator[there.PostgresqlLedger]:
    ledger = there.PostgresqlLedger(LedgerSettings("toys", "TOYS_LEDGER"))
    yield ledger
    await ledger.close()


async def test_first_ledger_write_fails_immediately_if_database_is_unavailable(
    database: Database, ledger: there.PostgresqlLedger, caplog: pytest.LogCaptureFixture
) -> None:
    database.back = 1.0
    with pytest.raises(LedgerError, match="cannot be written") as refused:
        await ledger.write(RECORD)
    assert isinstance(refused.value.__cause__, DatabaseGoneError)
    ledger.write_soon(RECORD)
    await ledger.close()
    assert "the end of call 1 is not recorded" in caplog.text
    assert (database.slept, database.connected) == ([], 0)
    database.now = 1.0
    await ledger.write(RECORD)
    assert (database.connected, database.rows) == (1, 1)


async def test_broken_ledger_database_connection_is_opened_again_immediately(
    database: Database, ledger: there.PostgresqlLedger
) -> None:
    await ledger.write(RECORD)
    await ledger.write(RECORD)
    assert database.connected == 1
    database.breaks = True
    await ledger.write(RECORD)
    assert (database.connected, database.closed, database.rows) == (2, 1, 3)
    assert database.slept == [0.05]


@pytest.mark.parametrize(("seconds", "is_written"), [(9.9, True), (11.0, False)])
async def test_ledger_write_waits_10_seconds_for_a_restarted_database(
    database: Database, ledger: there.PostgresqlLedger, seconds: float, is_written: bool
) -> None:
    await ledger.write(RECORD)
    database.back = seconds
    if is_written:
        await ledger.write(RECORD)
    else:
        with pytest.raises(LedgerError, match="cannot be written"):
            await ledger.write(RECORD)
    assert database.slept[:6] == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0]
    assert max(database.slept) == 1.0
    assert 9.0 < database.now <= 10.1
    assert database.closed == 1


def test_postgresql_ledger_connection_has_timeouts_and_keepalives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options: dict[str, Any] = {}

    def connect(**keywords: Any) -> Any:
        options.update(keywords)
        raise DatabaseGoneError

    monkeypatch.setattr(there.psycopg, "connect", connect)
    for query, idle in (("", 5), ("?keepalives_idle=9", "9")):
        with pytest.raises(DatabaseGoneError):
            there.open_connection(f"postgresql://toys@db.example:99/toys{query}")
        assert options == {
            "host": "db.example",
            "port": "99",
            "user": "toys",
            "dbname": "toys",
            "application_name": "toolcast ledger",
            "connect_timeout": 5,
            "tcp_user_timeout": 10_000,
            "keepalives_idle": idle,
            "keepalives_interval": 5,
            "keepalives_count": 2,
            "client_encoding": "utf8",
            "autocommit": True,
            "prepare_threshold": None,
        }
