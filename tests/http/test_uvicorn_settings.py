"""uvicorn settings of one process and of workers, and the options of an HTTP server."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from types import SimpleNamespace
from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from tests.forked_servers import run
from tests.http.serving import ROOT, run_server
from toolcast_runtime.http import HttpSettings, runner
from toolcast_runtime.http.runner import HttpOptions, serve_http, worker_app

APP: Any = object()


@pytest.fixture
def fake_uvicorn(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace uvicorn; return the recorded calls and settings."""
    calls = SimpleNamespace(log=[], apps=[], settings=None)

    class Server:
        def __init__(self, settings: Any) -> None:
            pass

        def run(self) -> None:
            calls.log.append("run")

    class Listener:
        def listen(self, queue: int) -> None:
            calls.log.append(("listen", queue))

        def getsockname(self) -> Any:
            return "::1", 8123

    def config(app: Any, **settings: Any) -> Any:
        calls.settings = SimpleNamespace(app=app, **settings)
        calls.settings.bind_socket = Listener
        return calls.settings

    def build_app(server: Any, options: Any, ending: Any) -> Any:
        calls.apps.append((options, ending))
        return APP, "listening"

    fake = SimpleNamespace(Config=config, Server=Server)
    monkeypatch.setattr(runner, "uvicorn", fake)
    log = calls.log.append
    monkeypatch.setattr(runner, "write_logs", lambda *options: log(options))
    monkeypatch.setattr(runner, "gc_freeze", contextlib.nullcontext)
    monkeypatch.setattr(runner, "get_connection_limit", lambda: 1_200)
    monkeypatch.setattr(runner, "_build_app", build_app)
    monkeypatch.setattr(
        runner, "log_endpoints", lambda *urls: log(("endpoints", *urls))
    )
    monkeypatch.setattr(runner, "run_workers", lambda *a: log(("supervise", a[2])))
    monkeypatch.setattr(runner.ProcessSignals, "install_handlers", lambda *_: None)
    return calls


def test_single_process_runs_uvicorn_with_restrictive_settings(
    fake_uvicorn: Any,
) -> None:
    """Proxy headers, the server header, the access log and WebSockets are disabled."""
    serve_http(SERVER, HttpOptions())
    assert fake_uvicorn.log == [("text", "info"), "run"]
    settings = vars(fake_uvicorn.settings)
    assert settings["app"] is APP
    assert (settings["backlog"], settings["timeout_graceful_shutdown"]) == (50, 10)
    assert (settings["host"], settings["port"]) == ("127.0.0.1", 8000)
    for name in ("factory", "access_log", "proxy_headers", "server_header"):
        assert settings[name] is False
    assert (settings["log_config"], settings["ws"]) == (None, "none")


def test_http_worker_processes_share_a_socket_and_import_the_app_by_name(
    fake_uvicorn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listening, the endpoint log and the supervision are the parent's tasks."""
    monkeypatch.setenv("TOOLCAST_HTTP_WORKER", "")
    options = HttpOptions(host="::1", workers=2, grace=3, log_level="error")
    serve_http(SERVER, options)
    assert fake_uvicorn.log == [
        ("text", "error"),
        ("listen", 1_024),
        ("endpoints", "listening", "http://[::1]:8123"),
        ("supervise", 3),
    ]
    assert (fake_uvicorn.settings.factory, fake_uvicorn.settings.workers) == (True, 2)
    assert fake_uvicorn.settings.app == "toolcast_runtime.http.runner:worker_app"
    assert worker_app() is APP
    (_, supervisor_end), (worker_options, worker_end) = fake_uvicorn.apps
    assert worker_options == options
    assert (supervisor_end._is_worker, worker_end._is_worker) == (False, True)
    assert worker_end._grace == 3


def test_default_http_body_limit_is_four_mebibytes() -> None:
    assert HttpSettings((), "ADMIN", "HOSTS").max_body == 4 * 1024 * 1024


@pytest.mark.rows(1)
@pytest.mark.parametrize("host", ["[::1]", "::1"])
def test_http_server_host_option_accepts_ipv6_address_with_brackets(host: str) -> None:
    with run_server("--local-tools", "--host", host) as server:
        server.wait_for_log(f"http://[::1]:{server.port}/mcp/")
        with socket.create_connection(("::1", server.port), 10) as connection:
            connection.sendall(b"GET /ready HTTP/1.1\r\nHost: [::1]\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.rows(1)
@pytest.mark.parametrize("seconds", [1, 0])
def test_idle_http_connection_is_closed_after_the_keep_alive_time(seconds: int) -> None:
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
    ("options", "error"),
    [
        (("--keep-alive", "5"), "--keep-alive requires --http"),
        (("--http", "--keep-alive", "-1"), "--keep-alive must not be negative"),
    ],
)
def test_invalid_keep_alive_option_is_refused(options: Any, error: str) -> None:
    done = run(
        ROOT, "generated.kirishima.mcp_server", *options, env={**os.environ}, input=b""
    )
    assert done.returncode == 2 and error in done.stderr.decode()
