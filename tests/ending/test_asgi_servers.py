"""Shutdown of an application under other ASGI servers: running calls are answered."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.ending.conftest import SlowProject
from tests.ending.test_http_ends import Call
from tests.http.serving import Server
from tests.ports import find_free_port
from tests.waiting import wait_until

APP = "generated.slow.mcp_server:app"
TOKEN = "right-token-123456"
START_TIMEOUT_S = END_TIMEOUT_S = 60


def build_third_party_case(module: str, name: str, *arguments: str) -> object:
    """Return the parameters of a server that `make test-servers` installs."""
    is_missing = importlib.util.find_spec(module) is None
    skip = pytest.mark.skipif(is_missing, reason="make test-servers installs it")
    return pytest.param(
        [module, *arguments], marks=[pytest.mark.servers, skip], id=name
    )


SERVERS = [
    pytest.param(
        ["uvicorn", APP, "--host", "127.0.0.1", "--port", "PORT"], id="uvicorn"
    ),
    build_third_party_case(
        "uvicorn",
        "uvicorn with a limit",
        *(APP, "--host", "127.0.0.1", "--port", "PORT"),
        *("--timeout-graceful-shutdown", "20"),
    ),
    build_third_party_case(
        "gunicorn",
        "gunicorn",
        *("-k", "uvicorn_worker.UvicornWorker", "-b", "127.0.0.1:PORT", APP),
    ),
    build_third_party_case("hypercorn", "hypercorn", "-b", "127.0.0.1:PORT", APP),
    build_third_party_case(
        "granian",
        "granian",
        *("--interface", "asgi", "--host", "127.0.0.1", "--port", "PORT", APP),
    ),
]


@contextmanager
def run_server(project: SlowProject, command: list[str]) -> Iterator[Server]:
    """Start an ASGI server on a free port, and yield it when it answers."""
    port = find_free_port()
    env = {
        **os.environ,
        **project.environment,
        "SLOW_TOKEN": TOKEN,
        "SLOW_ALLOWED_HOSTS": "127.0.0.1",
        "PYTHONPATH": str(project.root),
    }
    arguments = [word.replace("PORT", str(port)) for word in command]
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=project.root,
        env=env,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    running = Server(process, port)
    try:
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                assert running.send("/health", method="GET").status == 200
                break
            except OSError:
                assert time.monotonic() < deadline and process.poll() is None
                time.sleep(0.05)
        yield running
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("command", SERVERS)
def test_running_tool_calls_are_answered_when_the_asgi_server_is_terminated(
    project: SlowProject, command: list[str]
) -> None:
    """One call uses a handshake version, the other one the stateless version."""
    tools = {"async_second": True, "sync_second": False}
    with run_server(project, command) as running:
        calls = [
            Call(running, project, tool, token=TOKEN, modern=is_modern)
            for tool, is_modern in tools.items()
        ]
        wait_until(lambda: project.events.count("begun") == len(calls))
        running.process.send_signal(signal.SIGTERM)
        for call in calls:
            call.join(END_TIMEOUT_S)
        running.process.wait(END_TIMEOUT_S)
    assert all("finished" in call.answer for call in calls)
    assert project.outcomes == dict.fromkeys(tools, "ok")
