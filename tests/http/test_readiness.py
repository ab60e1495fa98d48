"""`/ready`: 200 if calls can be answered, otherwise 503 without the cause."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from starlette.testclient import TestClient

from generated.kirishima.mcp_server import SERVER
from tests.lifespan.conftest import LIFESPAN, Toolset
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.external import ExternalServer, ExternalTools
from toolcast_runtime.http import Endpoint, HttpSettings
from toolcast_runtime.http.app import Readiness, build_http_app
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.ledger import LedgerSettings
from toolcast_runtime.mcp import McpServer

HTTP = HttpSettings((Endpoint("/mcp/", None, "READY_TOKEN"),), "ADMIN", "READY_HOSTS")
READY = {
    "status": "ready",
    "handlers": "ok",
    "lifespan": "ok",
    "ledger": "ok",
    "external_servers": {},
}
SECRET = "hunter2-hunter2"


def request_readiness(registry: Registry, times: int = 1) -> list[Any]:
    """Return the status and body of `/ready` for each of some requests."""
    server = McpServer(registry, name="s", http=HTTP)
    app = build_http_app(server, ListenSettings.from_environment(HTTP, "127.0.0.1", {}))

    async def answers() -> list[Any]:
        transport = httpx.ASGITransport(app)
        async with (
            registry,
            app.lifespan_context(app),
            httpx.AsyncClient(
                transport=transport, base_url="http://10.0.0.7"
            ) as client,
        ):
            found = []
            for _ in range(times):
                answer = await client.get("/ready")
                assert answer.headers["cache-control"] == "no-store"
                assert (await client.get("/health")).json() == {"status": "ok"}
                found.append((answer.status_code, answer.json()))
            return found

    return asyncio.run(answers())


def make_package(
    folder: Path, source: str, *, persistent: bool = False
) -> tuple[Any, str]:
    """Write a package with one tool and return it with its handlers' package name."""
    package = Package(folder)
    handler = f"{package.name}.work:work"
    package.write(definition("work", handler=handler, persistent=persistent))
    (folder / package.name / "work.py").write_text(source, "utf-8")
    return package.load(), package.name


def make_ledger_registry(folder: Path) -> Registry:
    """Return a registry with a ledger in a new folder."""
    package, name = make_package(folder, "def work(): return 1\n", persistent=True)
    path = str(folder / "new" / "calls.sqlite3")
    settings = LedgerSettings("toy", "NO_SUCH_VARIABLE", path=path)
    return Registry(package, handlers=name, ledger=settings)


def test_ready_endpoint_needs_no_token_and_accepts_any_host() -> None:
    assert SERVER.http is not None
    listening = ListenSettings.from_environment(SERVER.http, "127.0.0.1", {})
    with TestClient(
        build_http_app(SERVER, listening), base_url="http://10.0.0.7"
    ) as client:
        answer = client.get("/ready")
    body = answer.json()
    assert answer.status_code == 200
    assert set(body.pop("external_servers")) <= {"unused", "up", "down"}
    assert body == {k: v for k, v in READY.items() if k != "external_servers"}


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
def test_server_with_unimportable_handler_is_not_ready_and_logs_it(
    tmp_path: Path, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    package, name = make_package(tmp_path, source)
    answer = request_readiness(Registry(package, handlers=name))
    assert answer == [(503, {**READY, "status": "not ready", "handlers": "failed"})]
    assert "the handler of work cannot be imported" in caplog.text


def test_ready_endpoint_imports_the_tool_handlers(tmp_path: Path) -> None:
    package, name = make_package(tmp_path, "def work(): return 1\n")
    assert f"{name}.work" not in sys.modules
    assert request_readiness(Registry(package, handlers=name)) == [(200, READY)]
    assert f"{name}.work" in sys.modules


def test_server_is_ready_only_if_the_ledger_can_be_opened(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The failure is logged once and does not reveal the path."""
    registry, path = make_ledger_registry(tmp_path), tmp_path / "new" / "calls.sqlite3"
    assert request_readiness(registry) == [(200, READY)]
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    broken = (503, {**READY, "status": "not ready", "ledger": "failed"})
    assert request_readiness(registry, 2) == [broken, broken]
    assert caplog.text.count("was written by a newer version") == 1
    assert str(path) not in json.dumps(broken)


def test_server_with_unwritable_ledger_is_not_ready(tmp_path: Path) -> None:
    registry = make_ledger_registry(tmp_path)
    assert request_readiness(registry) == [(200, READY)]
    with sqlite3.connect(tmp_path / "new" / "calls.sqlite3") as connection:
        assert list(connection.execute("SELECT * FROM calls")) == []
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON calls"
            " BEGIN SELECT RAISE(ABORT, 'no space'); END"
        )
    failed = {**READY, "status": "not ready", "ledger": "failed"}
    assert request_readiness(registry) == [(503, failed)]


def test_server_is_not_ready_until_a_slow_ledger_responds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    registry = make_ledger_registry(tmp_path)
    is_free = asyncio.Event()
    monkeypatch.setattr(registry.calls, "check_ledger", is_free.wait)
    monkeypatch.setattr("toolcast_runtime.http.app._READINESS_TIMEOUT_S", 0.01)
    monkeypatch.setattr("toolcast_runtime.http.app._READINESS_INTERVAL_S", 0)
    caplog.set_level("INFO", "toolcast.http")
    not_ready = (503, {**READY, "status": "not ready", "ledger": "failed"})
    assert request_readiness(registry, 2) == [not_ready, not_ready]
    assert caplog.text.count("not ready: the ledger did not answer within") == 1
    is_free.set()
    assert request_readiness(registry) == [(200, READY)]


@pytest.mark.parametrize("exists", [True, False])
def test_server_with_missing_ledger_function_is_not_ready(
    tmp_path: Path, exists: bool
) -> None:
    source = "def work(): return 1\n" + "def sink(record): ...\n" * exists
    package, name = make_package(tmp_path, source, persistent=True)
    settings = LedgerSettings("toy", "NO_SUCH_VARIABLE", sink=f"{name}.work:sink")
    registry = Registry(package, handlers=name, ledger=settings)
    assert request_readiness(registry)[0][0] == (200 if exists else 503)


def test_server_whose_lifespan_does_not_run_is_not_ready(tmp_path: Path) -> None:
    toolset = Toolset(tmp_path, LIFESPAN)
    server = McpServer(toolset.registry, name="s", http=HTTP)
    app = build_http_app(server, ListenSettings.from_environment(HTTP, "127.0.0.1", {}))
    before = request_readiness(toolset.make_registry())
    assert before[0] == (200, READY)
    # A program that mounts the application must enter its lifespan; this one does not.
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.get("/ready")
    assert (answer.status_code, answer.json()["lifespan"]) == (503, "failed")


def test_ready_endpoint_counts_external_servers_by_state_without_names(
    tmp_path: Path,
) -> None:
    package, name = make_package(tmp_path, "def work(): return 1\n")
    gone = ExternalServer("billing", sys.executable, ("-c", "raise SystemExit"))
    servers = ExternalTools([gone])
    registry = Registry(package, handlers=name, providers=[servers])
    unused = (200, {**READY, "external_servers": {"unused": 1}})
    assert request_readiness(registry) == [unused]
    asyncio.run(registry.list_tools())
    assert registry.get_single_toolset().get_server_states() == {"billing": "down"}
    asyncio.run(registry.close())


async def test_ready_requests_within_5_seconds_after_a_check_do_not_repeat_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = make_ledger_registry(tmp_path)
    checks = 0
    check_ledger = registry.calls.check_ledger

    async def count_check() -> None:
        nonlocal checks
        checks += 1
        await check_ledger()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200

    monkeypatch.setattr(registry.calls, "check_ledger", count_check)
    readiness = Readiness(McpServer(registry, name="s"))
    async with registry:
        for age, expected_checks in ((0, 1), (0, 1), (4, 1), (5.1, 2)):
            readiness._checked_at = asyncio.get_running_loop().time() - age
            await readiness.answer({"type": "http"}, cast(Any, None), send)
            assert checks == expected_checks
