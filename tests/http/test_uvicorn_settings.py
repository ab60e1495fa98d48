"""What uvicorn is told, by one process and by several, and what a server is made of."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from tests.http.serving import ROOT, run_server
from toolcast_runtime.http import HttpSettings, runner
from toolcast_runtime.http.runner import HttpOptions, serve_http, worker_app

APP: Any = object()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is asked of uvicorn, which does nothing."""
    world = SimpleNamespace(log=[], apps=[], settings=None)

    class Server:
        def __init__(self, settings: Any) -> None:
            pass

        def run(self) -> None:
            world.log.append("run")

    class Listener:
        def listen(self, queue: int) -> None:
            world.log.append(("listen", queue))

        def getsockname(self) -> Any:
            return "::1", 8123

    def config(app: Any, **settings: Any) -> Any:
        world.settings = SimpleNamespace(app=app, **settings)
        world.settings.bind_socket = Listener
        return world.settings

    def made(server: Any, options: Any, ending: Any) -> Any:
        world.apps.append((options, ending))
        return APP, "listening"

    fake = SimpleNamespace(Config=config, Server=Server)
    monkeypatch.setattr(runner, "uvicorn", fake)
    monkeypatch.setattr(runner, "write_logs", lambda *given: world.log.append(given))
    monkeypatch.setattr(runner, "gc_freeze", contextlib.nullcontext)
    monkeypatch.setattr(runner, "get_connection_limit", lambda: 1_200)
    monkeypatch.setattr(runner, "_build_app", made)
    monkeypatch.setattr(
        runner, "log_endpoints", lambda *given: world.log.append(("told", *given))
    )
    monkeypatch.setattr(
        runner, "run_workers", lambda *given: world.log.append(("supervise", given[2]))
    )
    monkeypatch.setattr(runner.ProcessSignals, "install_handlers", lambda *_: None)
    return world


def test_one_process_serves_by_itself(told: Any) -> None:
    serve_http(SERVER, HttpOptions())
    assert told.log == [("text", "info"), "run"]
    settings = vars(told.settings)
    assert settings["app"] is APP
    assert settings["backlog"] == 50
    assert settings["timeout_graceful_shutdown"] == 10
    assert (settings["host"], settings["port"]) == ("127.0.0.1", 8000)
    # What a proxy says is not believed, and nothing is told of the server itself.
    for name in ("factory", "access_log", "proxy_headers", "server_header"):
        assert settings[name] is False
    assert (settings["log_config"], settings["ws"]) == (None, "none")


def test_several_are_started_by_name(
    told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLCAST_HTTP_WORKER", "")
    options = HttpOptions(host="::1", workers=2, grace=3, log_level="error")
    serve_http(SERVER, options)
    assert told.log == [
        ("text", "error"),
        ("listen", 1_024),
        ("told", "listening", "http://[::1]:8123"),
        ("supervise", 3),
    ]
    assert (told.settings.factory, told.settings.workers) == (True, 2)
    assert told.settings.app == "toolcast_runtime.http.runner:worker_app"
    assert worker_app() is APP
    (_, first), (given, own) = told.apps
    assert given == options
    assert (first._is_worker, own._is_worker, own._grace) == (False, True, 3)


def test_a_worker_is_told_all_options(
    told: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = HttpOptions(port=1, replica=True, client="a", path="/a", local_tools=True)
    words = {**asdict(options), "server": "generated.kirishima.mcp_server"}
    monkeypatch.setenv("TOOLCAST_HTTP_WORKER", json.dumps(words))
    worker_app()
    assert told.apps[0][0] == options


@pytest.mark.parametrize(
    ("options", "several", "external"),
    [
        (HttpOptions(), False, True),
        (HttpOptions(workers=2), True, True),
        (HttpOptions(replica=True), True, True),
        (HttpOptions(local_tools=True), False, False),
    ],
)
def test_of_several_nothing_holds_for_one_alone(
    monkeypatch: pytest.MonkeyPatch, options: Any, several: bool, external: bool
) -> None:
    made: list[Any] = []

    def listening_at(*_: Any, several: bool) -> str:
        made.append(several)
        return "listening"

    def http_app(server: Any, listening: Any, *, is_one_of_several: bool) -> None:
        made.append((listening, is_one_of_several, server.external))

    monkeypatch.setattr(runner, "resolve_listen_settings", listening_at)
    monkeypatch.setattr(runner, "build_http_app", http_app)
    served: Any = runner.replace(SERVER, external=True)
    app, listening = runner._build_app(served, options, runner.ProcessSignals(1))
    assert callable(app) and listening == "listening"
    assert made == [several, ("listening", several, external)]


def test_a_body_has_four_mebibytes_at_most_unless_said_otherwise() -> None:
    assert HttpSettings((), "ADMIN", "HOSTS").max_body == 4 * 1024 * 1024


@pytest.mark.parametrize("host", ["[::1]", "::1"])
def test_ipv6_address_may_have_brackets(host: str) -> None:
    """As in a URL."""
    with run_server("--local-tools", "--host", host) as server:
        server.wait_for_log(f"http://[::1]:{server.port}/mcp/")
        with socket.create_connection(("::1", server.port), 10) as connection:
            connection.sendall(b"GET /ready HTTP/1.1\r\nHost: [::1]\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("seconds", [1, 0])
def test_idle_connection_is_closed_after_the_keep_alive_time(seconds: int) -> None:
    with (
        run_server("--local-tools", "--keep-alive", str(seconds)) as server,
        socket.create_connection(("127.0.0.1", server.port), 10) as connection,
    ):
        connection.sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(1_000).startswith(b"HTTP/1.1 200")
        begin = time.monotonic()
        while connection.recv(1_000):
            pass
        assert seconds - 0.5 < time.monotonic() - begin < seconds + 3


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--keep-alive", "5"), "--keep-alive requires --http"),
        (("--http", "--keep-alive", "-1"), "--keep-alive must not be negative"),
        (("--http", "--keep-alive", "x"), "invalid int value"),
    ],
)
def test_wrong_keep_alive_time_is_refused(words: tuple[str, ...], error: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "generated.kirishima.mcp_server", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 2 and error in done.stderr
