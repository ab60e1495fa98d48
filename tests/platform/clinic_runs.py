"""The clinic with the database of one test, and the recorded effects of its runs."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from sqlalchemy import Connection, create_engine

from tests.forked_servers import Process, start
from tests.waiting import wait_until

PATIENT = UUID("0b1f3c5e-5b4e-4a51-9c87-0d5d5a1f7f10")
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c63f8cfc0f01f00050001ff56c7e68c0000000049454e44ae426082"
)
MONDAY = "2026-11-23"


@dataclass(frozen=True)
class Clinic:
    """A database, a log and a ledger.

    Attributes:
        project: the folder of its toolcast.yaml and generated outputs.
        location: the folder of one test.
        url: the URL of the database.
        pace: the seconds per day of an export.
    """

    project: Path
    location: Path
    url: str
    pace: float = 0.0

    @property
    def environment(self) -> dict[str, str]:
        return {
            "CLINIC_DATABASE_URL": self.url,
            "CLINIC_LOG": str(self.location / "events.txt"),
            "CLINIC_PACE": str(self.pace),
            "CLINIC_STATE_KEY": "k" * 32,
            "RECEPTION_LEDGER": str(self.location / "ledger.sqlite3"),
            "RECORDS_LEDGER": str(self.location / "ledger.sqlite3"),
            # A database, if available, is shared by several machines.
            "PRACTICE_LEDGER": (
                self.url
                if self.url.startswith("postgresql:")
                else str(self.location / "ledger.sqlite3")
            ),
        }

    @property
    def events(self) -> list[str]:
        """The lines that the lifespan and the export log."""
        file = self.location / "events.txt"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    @property
    def approvals(self) -> list[tuple[str, str]]:
        """The confirmed tools and the user's answers."""
        with closing(sqlite3.connect(self.location / "ledger.sqlite3")) as connection:
            rows = "SELECT tool, action FROM approvals ORDER BY asked"
            return connection.execute(rows).fetchall()

    @property
    def connections(self) -> int:
        """The number of other connections to the server."""
        with psycopg.connect(self.url) as connection:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                " AND pid <> pg_backend_pid()"
            ).fetchone()
        assert row is not None
        return int(row[0])

    def make_tables(self) -> None:
        """Create tables with one patient and one visit on Monday for 80 Euros."""
        with self.connection() as connection:
            tables = self._tables()
            tables.TABLES.drop_all(connection)
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("DROP TABLE IF EXISTS calls, approvals")
            tables.TABLES.create_all(connection)
            connection.execute(
                tables.PATIENTS.insert().values(
                    id=PATIENT, name="Ada", birthday="1985-12-10", insurance="public"
                )
            )
            connection.execute(
                tables.VISITS.insert().values(
                    patient_id=PATIENT,
                    start=f"{MONDAY}T09:00:00+00:00",
                    minutes=15,
                    status="booked",
                    currency="EUR",
                    cents=8000,
                )
            )

    def cents_left(self) -> int:
        """Return the current price of the first visit."""
        with self.connection() as connection:
            visits = self._tables().VISITS
            row = visits.select().where(visits.c.id == 1)
            return int(connection.execute(row).one().cents)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        engine = create_engine(self.url.replace("postgresql:", "postgresql+psycopg:"))
        try:
            with engine.begin() as connection:
                yield connection
        finally:
            engine.dispose()

    def start(self, *arguments: str) -> Process:
        """Start `python -m ARGUMENTS` in the project."""
        return start(self.project, *arguments, env={**os.environ, **self.environment})

    def wait_for(self, condition: Callable[[], bool]) -> None:
        wait_until(condition, lambda: self.events)

    def _tables(self) -> Any:
        sys.path.insert(0, str(self.project))
        try:
            return import_module("clinic.tables")
        finally:
            sys.path.remove(str(self.project))
