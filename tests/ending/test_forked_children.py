"""Child processes forked by handlers do not keep the server's pipes, port or connections."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator

import pytest

from tests.ending.conftest import TIMEOUT_S, SlowProject
from tests.ending.test_http_ends import run_slow_server as run_http_server
from tests.ending.test_stdio_ends import encode_calls, parse_results, send, stop
from tests.ending.test_stdio_ends import run_slow_server as run_stdio_server
from tests.http.serving import Server
from tests.mcp.servers import LEGACY, MODERN

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is missing")
SLOW_FORKS = (
    "fork_process fork_async fork_in_thread fork_twice fork_terminal fork_and_execute"
    " fork_writer spawn_program open_program"
).split()
FORKS = pytest.mark.parametrize(
    "tool",
    ["fork_raw", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW_FORKS)],
)


@pytest.fixture
def children(project: SlowProject) -> Iterator[list[int]]:
    """Yield a list for the process IDs of forked children; kill them after the test."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def call(running: Server, tool: str) -> str:
    """Call a tool and return the text of its result."""
    params = {"name": tool, "arguments": {}}
    message = running.request("/mcp/", "tools/call", params, modern=True).message
    text: str = message["result"]["content"][0]["text"]
    return text


@FORKS
def test_stdio_mcp_server_closes_stdout_although_a_forked_child_still_runs(
    project: SlowProject, tool: str, children: list[int]
) -> None:
    with run_stdio_server(project, 1) as process:
        output = send(process, encode_calls(MODERN, tool))
        first = output.readline()
        children += [int(pid) for pid in project.events if pid.isdigit()]
        assert "forked" in str(parse_results(first))
        stop(process, "input")
        assert output.read() == b""
        os.kill(children[0], 0)
        assert process.wait(TIMEOUT_S) == 0


@FORKS
def test_http_mcp_server_closes_its_port_although_a_forked_child_still_runs(
    project: SlowProject, tool: str, children: list[int]
) -> None:
    with run_http_server(project, 1, 1) as running:
        address = ("127.0.0.1", running.port)
        with socket.create_connection(address, timeout=30) as idle:
            idle.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200 OK" in idle.recv(4096)
            assert call(running, tool) == "forked"
            children += [int(pid) for pid in project.events if pid.isdigit()]
            running.process.send_signal(signal.SIGTERM)
            running.process.wait(TIMEOUT_S)
            while idle.recv(4096):
                pass
        os.kill(children[0], 0)
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()


@pytest.mark.parametrize("era", [MODERN, pytest.param(LEGACY, marks=pytest.mark.slow)])
def test_stdio_mcp_server_handlers_can_use_and_terminate_forked_children(
    project: SlowProject, era: str
) -> None:
    with run_stdio_server(project, 10) as process:
        output = send(
            process, encode_calls(era, "fork_pool", "terminate_child", "quick")
        )
        texts: dict[int, str] = {}
        while len(texts) < 3:
            texts |= parse_results(output.readline())
        assert set(texts.values()) == {"[1, 2]", str(-signal.SIGTERM), "quick"}
        stop(process, "input")
        assert process.wait(TIMEOUT_S) == 0
    assert project.outcomes == dict.fromkeys(
        ["fork_pool", "terminate_child", "quick"], "ok"
    )
