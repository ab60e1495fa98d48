"""Shutdown of an HTTP server by signals, in one process and with workers."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.ending.conftest import TIMEOUT_S, SlowProject, measure_exit
from tests.http.serving import Server, rpc, run_server

SLOW = pytest.mark.slow
WORKERS = pytest.mark.parametrize("workers", [pytest.param(1, marks=SLOW), 2])
SIGNALS = pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=SLOW)]
)


@contextmanager
def run_slow_server(
    project: SlowProject, grace: int, workers: int, idle: float | None = None
) -> Iterator[Server]:
    """Start the project's server; `idle` replaces the shutdown time of idle connections.

    The time is replaced when the server imports the handlers, at its first call.
    """
    options = ("--grace", str(grace), "--workers", str(workers))
    env = project.environment | ({"ENDING_IDLE_S": str(idle)} if idle else {})
    with run_server(
        *options, package="generated.slow", root=project.root, env=env
    ) as running:
        yield running


class Call(threading.Thread):
    """A call in a thread; `answer` is the response body or the connection error."""

    def __init__(
        self,
        running: Server,
        project: SlowProject,
        tool: str,
        *,
        token: str | None = None,
        modern: bool = True,
    ) -> None:
        super().__init__(daemon=True)
        self._running, self._project, self._tool = running, project, tool
        self._token, self._modern = token, modern
        self.answer = ""
        self.start()

    def run(self) -> None:
        params: dict[str, Any] = {"name": self._tool, "arguments": {}}
        while not self.answer:
            try:
                answer = self._running.request(
                    "/mcp/",
                    "tools/call",
                    params,
                    token=self._token,
                    modern=self._modern,
                )
                self.answer = str(answer.body)
            except OSError as error:
                # On a busy machine uvicorn replaces a worker that is slow to start, so the
                # call is repeated until a handler has started.
                self.answer = repr(error) if self._project.events else ""


# A server with two workers starts three processes, so the fast suite runs only one of the
# combinations.
@pytest.mark.parametrize(
    ("tool", "workers"),
    [
        ("async_second", 1),
        pytest.param("sync_second", 2, marks=SLOW),
        pytest.param("sync_second", 1, marks=SLOW),
        pytest.param("async_second", 2, marks=SLOW),
    ],
)
@SIGNALS
def test_http_mcp_server_finishes_a_running_call_after_a_signal_and_exits_with_0(
    project: SlowProject, tool: str, number: int, workers: int
) -> None:
    with run_slow_server(project, 10, workers) as running:
        call = Call(running, project, tool)
        project.wait_for_event("begun")
        running.process.send_signal(number)
        code = running.process.wait(TIMEOUT_S)
        call.join(TIMEOUT_S)
    assert "finished" in call.answer
    assert code == 0
    # An idle worker has imported the handlers too, unless it was still starting.
    assert project.events.count("begun") == 1
    assert 1 <= project.events.count("atexit") <= workers
    assert project.outcomes == {tool: "ok"}
    assert "Traceback" not in running.log


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no process is stopped here")
def test_http_mcp_server_in_shutdown_answers_connections_opened_before_the_signal(
    project: SlowProject,
) -> None:
    """They are idle, receive a request with the signal, or are not accepted yet."""
    request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with run_slow_server(project, 60, 1, idle=TIMEOUT_S) as running:
        call = {"name": "quick", "arguments": {}}
        assert running.request("/mcp/", "tools/call", call, modern=True).status == 200
        address = ("127.0.0.1", running.port)
        with (
            socket.create_connection(address, timeout=TIMEOUT_S) as early,
            socket.create_connection(address, timeout=TIMEOUT_S) as late,
        ):
            assert running.send("/health", method="GET").status == 200
            running.process.send_signal(signal.SIGSTOP)
            with socket.create_connection(address, timeout=TIMEOUT_S) as last:
                last.sendall(request)
                running.process.send_signal(signal.SIGTERM)
                late.sendall(request)
                running.process.send_signal(signal.SIGCONT)
                running.wait_for_log("Shutting down")
                early.sendall(request)
                for connection in (early, late, last):
                    assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection(address, timeout=TIMEOUT_S)
        assert running.process.wait(TIMEOUT_S) == 0


@pytest.mark.slow
async def test_http_mcp_server_shutdown_loses_no_call_from_continuous_callers(
    project: SlowProject,
) -> None:
    """Each call is answered, or its connection is refused before the call is sent."""
    with run_slow_server(project, 60, 2, idle=TIMEOUT_S) as running:
        answers = [asyncio.Event() for _ in range(12)]
        clients = [
            asyncio.create_task(call_until_refused(running.port, is_kept, answer))
            for is_kept, answer in zip((True, False) * 6, answers, strict=True)
        ]
        async with asyncio.timeout(TIMEOUT_S):
            await asyncio.gather(*(answer.wait() for answer in answers))
        running.process.send_signal(signal.SIGTERM)
        await asyncio.gather(*clients)
        code = await asyncio.to_thread(running.process.wait, TIMEOUT_S)
    assert code == 0


async def call_until_refused(port: int, is_kept: bool, answer: asyncio.Event) -> None:
    """Repeat a call until the connection is refused; set `answer` after the first response."""
    body, more = rpc("tools/call", {"name": "quick", "arguments": {}})
    headers = {
        "Host": "localhost",
        "Connection": "keep-alive" if is_kept else "close",
        "Content-Length": str(len(body)),
        **more,
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    request = f"POST /mcp/ HTTP/1.1\r\n{head}\r\n".encode() + body
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            return
        is_last = False
        while not is_last:
            writer.write(request)
            response = await reader.readuntil(b"\r\n\r\n")
            assert response.startswith(b"HTTP/1.1 200 ")
            is_last = b"connection: close" in response.lower()
            if b"chunked" in response:
                response = await reader.readuntil(b"0\r\n\r\n")
            else:
                (length,) = re.findall(rb"content-length: (\d+)", response)
                response = await reader.readexactly(int(length))
            assert b"quick" in response
            answer.set()
        writer.close()


@pytest.mark.slow
@WORKERS
@pytest.mark.parametrize(
    "tool",
    [
        pytest.param("sync_endless", marks=SLOW),
        "async_endless",
        pytest.param("stubborn", marks=SLOW),
    ],
)
def test_http_mcp_server_cancels_calls_that_exceed_the_grace_period_and_exits_with_0(
    project: SlowProject, tool: str, workers: int
) -> None:
    with run_slow_server(project, 1, workers) as running:
        call = Call(running, project, tool)
        project.wait_for_event("begun")
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(TIMEOUT_S) == 0
        call.join(TIMEOUT_S)
    assert "finished" not in call.answer
    # The supervisor kills a worker whose handler cannot be cancelled.
    killed = tool == "stubborn" and workers > 1
    assert (not killed) <= project.events.count("atexit") <= workers - killed
    assert ("cancelled" in project.events) == (tool == "async_endless")
    assert project.outcomes == {tool: "cancelled"}


@pytest.mark.slow
@WORKERS
def test_http_mcp_server_ends_after_a_second_signal_without_waiting_for_calls(
    project: SlowProject, workers: int
) -> None:
    """Exit code is 128 plus the signal number."""
    grace = int(TIMEOUT_S)
    with run_slow_server(project, grace, workers) as running:
        Call(running, project, "sync_endless")
        project.wait_for_event("begun")
        running.process.send_signal(signal.SIGTERM)
        # A signal that is sent before the first one is handled would have no effect.
        running.wait_for_log("Shutting down")
        with pytest.raises(subprocess.TimeoutExpired):
            running.process.wait(0.5)
        running.process.send_signal(signal.SIGTERM)
        code, seconds = measure_exit(running.process)
    assert code == 128 + signal.SIGTERM
    assert seconds < grace / 2
    # An idle worker may have ended after the first signal.
    assert project.events in (["begun"], ["begun", "atexit"])[:workers]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=SLOW)])
def test_idle_http_mcp_server_exits_with_0_after_a_signal(
    project: SlowProject, workers: int
) -> None:
    with run_slow_server(project, 10, workers) as running:
        Call(running, project, "quick").join(TIMEOUT_S)
        code = running.stop()
    assert code == 0
    assert project.events in (["atexit"], ["atexit", "atexit"])[:workers]


def test_http_mcp_server_does_not_start_on_an_occupied_port(
    project: SlowProject,
) -> None:
    with run_slow_server(project, 10, 1) as running:
        options = ("--port", str(running.port))
        with (
            pytest.raises(AssertionError),
            run_server(
                *options,
                package="generated.slow",
                root=project.root,
                env=project.environment,
            ) as second,
        ):
            pytest.fail(second.log)
