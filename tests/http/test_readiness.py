"""`/ready`: 200 when calls can be answered, 503 when not, and never why."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from generated.kirishima.mcp_server import SERVER
from tests.lifespan.conftest import LIFESPAN, Toolset
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.external import ExternalServer, ExternalTools
from toolcast_runtime.http import Endpoint, HttpSettings
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.ledger import LedgerSettings
from toolcast_runtime.mcp import McpServer

HTTP = HttpSettings((Endpoint("/mcp/", None, "READY_TOKEN"),), "ADMIN", "READY_HOSTS")
WHOLE = {
    "status": "ready",
    "handlers": "ok",
    "lifespan": "ok",
    "ledger": "ok",
    "external_servers": {},
}
SECRET = "hunter2-hunter2"


def asked(registry: Registry, times: int = 1) -> list[Any]:
    """What `/ready` answers, within the application's lifespan."""
    server = McpServer(registry, name="s", http=HTTP)
    app = build_http_app(server, ListenSettings.from_environment(HTTP, "127.0.0.1", {}))

    async def answers() -> list[Any]:
        transport = httpx.ASGITransport(app)
        async with (
            registry,
            app.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://10.0.0.7") as one,
        ):
            found = []
            for _ in range(times):
                answer = await one.get("/ready")
                assert answer.headers["cache-control"] == "no-store"
                assert (await one.get("/health")).json() == {"status": "ok"}
                found.append((answer.status_code, answer.json()))
            return found

    return asyncio.run(answers())


def made(folder: Path, source: str, *, persistent: bool = False) -> tuple[Any, str]:
    """A package of one tool, and that of its handler."""
    package = Package(folder)
    name = package.name
    package.write(
        definition("work", handler=f"{name}.work:work", persistent=persistent)
    )
    (folder / name / "work.py").write_text(source, "utf-8")
    return package.load(), name


def test_it_answers_everybody_that_it_is_ready() -> None:
    assert SERVER.http is not None
    listening = ListenSettings.from_environment(SERVER.http, "127.0.0.1", {})
    with TestClient(
        build_http_app(SERVER, listening), base_url="http://10.0.0.7"
    ) as client:
        answer = client.get("/ready")
    shown = answer.json()
    assert answer.status_code == 200
    assert set(shown.pop("external_servers")) <= {"unused", "up", "down"}
    assert shown == {k: v for k, v in WHOLE.items() if k != "external_servers"}


@pytest.mark.parametrize(
    "source",
    [
        f"import {SECRET.replace('-', '_')}\n",
        "def work(:\n",
        "raise SystemExit(3)\n",
        "work = 3\n",
        "",
    ],
    ids=["import", "syntax", "exit", "no function", "empty"],
)
def test_a_handler_that_cannot_be_imported(
    tmp_path: Path, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    package, name = made(tmp_path, source)
    answer = asked(Registry(package, handlers=name))
    assert answer == [(503, {**WHOLE, "status": "not ready", "handlers": "failed"})]
    assert "the handler of work cannot be imported" in caplog.text


def test_handlers_are_imported_before_the_first_call(tmp_path: Path) -> None:
    package, name = made(tmp_path, "def work(): return 1\n")
    assert f"{name}.work" not in sys.modules
    assert asked(Registry(package, handlers=name)) == [(200, WHOLE)]
    assert f"{name}.work" in sys.modules


def test_a_ledger_that_cannot_be_opened_and_one_that_can(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    package, name = made(tmp_path, "def work(): return 1\n", persistent=True)
    path = tmp_path / "there" / "calls.sqlite3"
    settings = LedgerSettings("toy", "NO_SUCH_VARIABLE", path=str(path))
    registry = Registry(package, handlers=name, ledger=settings)
    assert asked(registry) == [(200, WHOLE)]
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    broken = (503, {**WHOLE, "status": "not ready", "ledger": "failed"})
    assert asked(registry, 2) == [broken, broken]
    assert caplog.text.count("was written by a newer version") == 1
    assert str(path) not in json.dumps(broken)


def test_a_ledger_that_can_be_read_and_not_written(tmp_path: Path) -> None:
    package, name = made(tmp_path, "def work(): return 1\n", persistent=True)
    path = tmp_path / "calls.sqlite3"
    settings = LedgerSettings("toy", "NO_SUCH_VARIABLE", path=str(path))
    registry = Registry(package, handlers=name, ledger=settings)
    assert asked(registry) == [(200, WHOLE)]
    with sqlite3.connect(path) as connection:
        assert list(connection.execute("SELECT * FROM calls")) == []
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON calls"
            " BEGIN SELECT RAISE(ABORT, 'no space'); END"
        )
    failed = {**WHOLE, "status": "not ready", "ledger": "failed"}
    assert asked(registry) == [(503, failed)]


def test_a_ledger_that_does_not_answer_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    package, name = made(tmp_path, "def work(): return 1\n", persistent=True)
    settings = LedgerSettings("toy", "NO_SUCH_VARIABLE", path=str(tmp_path / "a" / "b"))
    registry = Registry(package, handlers=name, ledger=settings)
    is_free = asyncio.Event()
    monkeypatch.setattr(registry.calls, "check_ledger", is_free.wait)
    monkeypatch.setattr("toolcast_runtime.http.app._READINESS_TIMEOUT_S", 0.01)
    monkeypatch.setattr("toolcast_runtime.http.app._READINESS_INTERVAL_S", 0)
    caplog.set_level("INFO", "toolcast.http")
    late = (503, {**WHOLE, "status": "not ready", "ledger": "failed"})
    assert asked(registry, 2) == [late, late]
    assert caplog.text.count("not ready: the ledger did not answer within") == 1
    is_free.set()
    assert asked(registry) == [(200, WHOLE)]


@pytest.mark.parametrize("there", [True, False])
def test_a_ledger_that_is_a_function(tmp_path: Path, there: bool) -> None:
    source = "def work(): return 1\n" + "def sink(record): ...\n" * there
    package, name = made(tmp_path, source, persistent=True)
    settings = LedgerSettings("toy", "NO_SUCH_VARIABLE", sink=f"{name}.work:sink")
    registry = Registry(package, handlers=name, ledger=settings)
    assert asked(registry)[0][0] == (200 if there else 503)


def test_a_lifespan_that_does_not_run(tmp_path: Path) -> None:
    toolset = Toolset(tmp_path, LIFESPAN)
    server = McpServer(toolset.registry, name="s", http=HTTP)
    app = build_http_app(server, ListenSettings.from_environment(HTTP, "127.0.0.1", {}))
    before = asked(toolset.make_registry())
    assert before[0] == (200, WHOLE)
    # Nobody has entered this one's: a program that mounts it has to.
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.get("/ready")
    assert (answer.status_code, answer.json()["lifespan"]) == (503, "failed")


def test_an_external_server_that_is_down_is_told_without_its_name(
    tmp_path: Path,
) -> None:
    package, name = made(tmp_path, "def work(): return 1\n")
    gone = ExternalServer("billing", sys.executable, ("-c", "raise SystemExit"))
    servers = ExternalTools([gone])
    registry = Registry(package, handlers=name, providers=[servers])
    unused = (200, {**WHOLE, "external_servers": {"unused": 1}})
    assert asked(registry) == [unused]
    asyncio.run(registry.list_tools())
    assert registry.get_single_toolset().get_server_states() == {"billing": "down"}
    asyncio.run(registry.close())


def test_requests_within_the_interval_share_one_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, name = made(tmp_path, "def work(): return 1\n", persistent=True)
    settings = LedgerSettings("toy", "NO_SUCH_VARIABLE", path=str(tmp_path / "a" / "b"))
    registry = Registry(package, handlers=name, ledger=settings)
    checks = 0
    check_ledger = registry.calls.check_ledger

    async def count_check() -> None:
        nonlocal checks
        checks += 1
        await check_ledger()

    monkeypatch.setattr(registry.calls, "check_ledger", count_check)
    monkeypatch.setattr("toolcast_runtime.http.app._READINESS_INTERVAL_S", 600.0)
    assert asked(registry, 20) == [(200, WHOLE)] * 20
    assert checks == 1
    monkeypatch.setattr("toolcast_runtime.http.app._READINESS_INTERVAL_S", 0.0)
    assert asked(registry, 5) == [(200, WHOLE)] * 5
    assert checks == 6


def test_mounted_it_is_not_ready_without_its_lifespan() -> None:
    app = SERVER.asgi_app()

    async def get() -> httpx.Response:
        transport = httpx.ASGITransport(Starlette(routes=[Mount("/platform", app)]))
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as one:
            return await one.get("/platform/ready")

    assert asyncio.run(get()).status_code == 503
