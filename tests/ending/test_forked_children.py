"""Children that a handler forks do not keep the server's pipes, port and connections open."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator

import pytest

from tests.ending.conftest import Slow, waited
from tests.ending.test_http_ends import server as http_server
from tests.ending.test_stdio_ends import answers, ask, end, lines
from tests.ending.test_stdio_ends import server as stdio_server
from tests.http.serving import RunningServer
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
def children(slow: Slow) -> Iterator[list[int]]:
    """The process IDs of the forked children; they are killed after the test."""
    pids: list[int] = []
    yield pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def call(running: RunningServer, tool: str) -> str:
    params = {"name": tool, "arguments": {}}
    message = running.request("/mcp/", "tools/call", params, modern=True).message
    text: str = message["result"]["content"][0]["text"]
    return text


@FORKS
def test_stdout_ends_with_the_server(
    slow: Slow, tool: str, children: list[int]
) -> None:
    with stdio_server(slow, 1) as process:
        output = ask(process, lines(MODERN, tool))
        first = output.readline()
        children += [int(pid) for pid in slow.told if pid.isdigit()]
        assert "forked" in str(answers(first))
        end(process, "input")
        assert output.read() == b""
        os.kill(children[0], 0)
        assert waited(process)[0] == 0


@FORKS
def test_port_and_connections_end_with_the_server(
    slow: Slow, tool: str, children: list[int]
) -> None:
    with http_server(slow, 1, 1) as running:
        address = ("127.0.0.1", running.port)
        with socket.create_connection(address, timeout=30) as idle:
            idle.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200 OK" in idle.recv(4096)
            assert call(running, tool) == "forked"
            children += [int(pid) for pid in slow.told if pid.isdigit()]
            running.process.send_signal(signal.SIGTERM)
            waited(running.process)
            while idle.recv(4096):
                pass
        os.kill(children[0], 0)
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()


@pytest.mark.parametrize("era", [MODERN, pytest.param(LEGACY, marks=pytest.mark.slow)])
def test_children_work_and_can_be_terminated(slow: Slow, era: str) -> None:
    with stdio_server(slow, 10) as process:
        output = ask(process, lines(era, "fork_pool", "terminate_child", "quick"))
        texts: dict[int, str] = {}
        while len(texts) < 3:
            texts |= answers(output.readline())
        assert set(texts.values()) == {"[1, 2]", str(-signal.SIGTERM), "quick"}
        end(process, "input")
        assert waited(process)[0] == 0
    assert slow.outcomes == dict.fromkeys(
        ["fork_pool", "terminate_child", "quick"], "ok"
    )
