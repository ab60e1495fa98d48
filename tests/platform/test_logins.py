"""Authenticated users: tools and the ledger receive the caller on every surface."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib import import_module
from typing import Any

import httpx2
import psycopg
import pytest
from click.testing import CliRunner
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from tests.http.serving import run_server
from tests.platform.clinic_runs import MONDAY, PATIENT, Clinic
from tests.platform.logins import PEOPLE, Logins, start_logins
from tests.platform.test_clients import AutomaticUser, Mode, connect_client
from toolcast_runtime import Caller, Registry, calling_as

BOOKING = {"patient_id": str(PATIENT), "start": f"{MONDAY}T10:30:00+01:00"}
REFUND = {"visit_id": 1, "amount": {"cents": 5_000, "currency": "EUR"}}
ADA = Caller("ada", {"name": "Ada", "patient": str(PATIENT)}, frozenset())
MIA = Caller("mia", {"name": "Mia"}, frozenset())


@pytest.fixture
def practice(clinic: Clinic) -> Iterator[Registry]:
    registry = import_module("clinic_tools.practice.registry").REGISTRY
    with registry:
        yield registry


@pytest.fixture
def people() -> Iterator[Logins]:
    with start_logins() as found:
        yield found


def read_ledger(clinic: Clinic) -> list[tuple[str, str | None, str]]:
    """Return tool, user and outcome of each row of the ledger."""
    rows = 'SELECT tool, "user", outcome FROM calls ORDER BY started'
    address = clinic.environment["PRACTICE_LEDGER"]
    if address.startswith("postgresql:"):
        with psycopg.connect(address) as database:
            return database.execute(rows).fetchall()
    with closing(sqlite3.connect(address)) as file:
        return file.execute(rows).fetchall()


def test_calling_as_sets_the_registry_call_user_separately_in_each_thread(
    clinic: Clinic, practice: Registry
) -> None:
    """Tools and the ledger see the user of the calling thread."""

    def visits(caller: Caller) -> Any:
        with calling_as(caller):
            return practice.call_tool_sync("my_visits", {}, "portal")

    # The tool is a sync function and runs in a thread, next to the script's own threads.
    with ThreadPoolExecutor(4) as threads:
        eve = Caller("eve", {"name": "Eve"}, frozenset())
        adas, eves = threads.map(visits, [ADA, eve])
    assert [visit["visit_id"] for visit in adas.result] == [1]
    assert eves.error == "Your login names no patient."
    with calling_as(MIA):
        booked = practice.call_tool_sync("book_visit", BOOKING, "desk")
        refused = practice.call_tool_sync("charge_visit", {}, "desk")
    assert booked.error is None and refused.error == "unknown tool `charge_visit`"
    with clinic.connection() as connection:
        who = connection.exec_driver_sql("SELECT booked_by FROM visits ORDER BY id")
        assert [row.booked_by for row in who] == [None, "mia"]
    assert sorted(read_ledger(clinic)) == [
        ("book_visit", "mia", "ok"),
        ("my_visits", "ada", "ok"),
        ("my_visits", "eve", "error"),
    ]


def test_generated_cli_runs_as_the_user_set_by_calling_as(practice: Registry) -> None:
    main = import_module("clinic_tools.practice.cli").main
    results = []
    for caller in (MIA, Caller()):
        with calling_as(caller):
            results.append(CliRunner().invoke(main, ["whoami"]))
    assert [json.loads(each.stdout)["user"] for each in results] == ["mia", None]


@pytest.mark.slow
def test_mcp_client_over_stdio_has_no_user_and_may_call_tools_that_require_scopes(
    clinic: Clinic,
) -> None:
    """The client is the program that started the server."""

    async def works() -> None:
        async with connect_client(clinic, "practice", "stdio", "auto", None) as client:
            user = (await client.call_tool("whoami", {})).structured_content
            assert user == {"user": None, "name": None, "ward": None}
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "refund_visit" in names and "my_visits" not in names

    asyncio.run(works())
    assert read_ledger(clinic) == [("whoami", None, "ok")]


@pytest.mark.slow
def test_concurrent_mcp_http_server_users_see_only_their_own_tools_and_data(
    clinic: Clinic, people: Logins
) -> None:
    env = {**clinic.environment, **people.environment}
    with run_server(
        package="clinic_tools.practice", root=clinic.project, env=env
    ) as running:
        base = f"http://127.0.0.1:{running.port}"
        for mode in ("auto", "legacy"):
            asyncio.run(_run_all_users(clinic, people, base, mode))
        assert running.stop() == 0
        assert not any(part in running.log for part in people.token("mia").split("."))
    rows = read_ledger(clinic)
    assert {user for _, user, _ in rows} == set(PEOPLE)
    assert rows.count(("refund_visit", "ben", "ok")) == 2 and clinic.cents_left() == 0
    assert clinic.events[0] == "opened" and clinic.events[-1] == "closed, 0 in use"


async def _run_all_users(clinic: Clinic, people: Logins, base: str, mode: Mode) -> None:
    """Call as all users concurrently and check each user's tools and identity."""
    person = AutomaticUser()
    refund = {**REFUND, "amount": {"cents": 4_000, "currency": "EUR"}}

    async def day(user: str) -> tuple[list[str], Any, CallToolResult]:
        headers = {**people.headers(user), "x-ward": f"ward of {user}"}
        url = f"{base}{people.path(user)}"
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(
                streamable_http_client(url, http_client=http),
                mode=mode,
                elicitation_callback=person,
            ) as client,
        ):
            names = [tool.name for tool in (await client.list_tools()).tools]
            result = await client.call_tool("whoami", {})
            mine: tuple[str, dict[str, Any]] = ("my_visits", {})
            calls = {"ada": mine, "eve": mine}
            calls["ben"] = ("refund_visit", refund)
            calls["mia"] = ("book_visit", BOOKING)
            note = {"patient_id": str(PATIENT), "text": "Rest."}
            calls["ann"] = ("add_note", note)
            done = await client.call_tool(*calls[user])
            return names, result.structured_content, done

    days = dict(zip(PEOPLE, await asyncio.gather(*map(day, PEOPLE)), strict=True))
    for user, (names, identity, _) in days.items():
        name = PEOPLE[user]["name"]
        assert identity == {"user": user, "name": name, "ward": f"ward of {user}"}
        is_patient = user in ("ada", "eve")
        assert ("my_visits" in names) is is_patient
        assert ("refund_visit" in names) is (user in ("ben", "ann"))
        assert ("add_note" in names) is (user == "ann")
    done = {user: _text(result) for user, (_, _, result) in days.items()}
    assert done["eve"] == "Your login names no patient."
    assert [visit["status"] for visit in json.loads(done["ada"])][:1] == ["booked"]
    assert done["ann"].startswith("Noted for Ada")
    assert person.asked == 1


def _text(result: CallToolResult) -> str:
    first, *_ = result.content
    assert isinstance(first, TextContent), first
    return first.text
