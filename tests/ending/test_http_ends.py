"""A server over HTTP that is asked to end, in one process and in several."""

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

from tests.ending.conftest import Slow, waited
from tests.http.serving import RunningServer, rpc, run_server

SLOW = pytest.mark.slow
WORKERS = pytest.mark.parametrize("workers", [pytest.param(1, marks=SLOW), 2])
SIGNALS = pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=SLOW)]
)
CLOSED_WITHIN = 15.0


@contextmanager
def server(slow: Slow, grace: int, workers: int) -> Iterator[RunningServer]:
    words = ("--grace", str(grace), "--workers", str(workers))
    env = slow.environment
    with run_server(
        *words, package="generated.slow", root=slow.root, env=env
    ) as running:
        yield running


class Call(threading.Thread):
    """A call beside the test; `answer` is what came of it."""

    def __init__(
        self,
        running: RunningServer,
        slow: Slow,
        tool: str,
        *,
        token: str | None = None,
        modern: bool = True,
    ) -> None:
        super().__init__(daemon=True)
        self._running, self._slow, self._tool = running, slow, tool
        self._token, self._modern = token, modern
        self.answer = ""
        self.start()

    def run(self) -> None:
        given: dict[str, Any] = {"name": self._tool, "arguments": {}}
        while not self.answer:
            try:
                answer = self._running.request(
                    "/mcp/",
                    "tools/call",
                    given,
                    token=self._token,
                    modern=self._modern,
                )
                self.answer = str(answer.body)
            except OSError as error:
                # On a busy machine uvicorn replaces a worker that is slow to start.
                self.answer = repr(error) if self._slow.told else ""


# Two workers are three processes to start: each kind of function once, each number once.
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
def test_a_running_call_is_finished(
    slow: Slow, tool: str, number: int, workers: int
) -> None:
    with server(slow, 10, workers) as running:
        call = Call(running, slow, tool)
        slow.wait_for(lambda: "begun" in slow.told)
        running.process.send_signal(number)
        code, _ = waited(running.process)
        call.join(30)
    assert "finished" in call.answer
    assert code == 0
    # A worker without a call has imported the handlers too, unless it was still starting.
    assert slow.told.count("begun") == 1
    assert 1 <= slow.told.count("atexit") <= workers
    assert slow.outcomes == {tool: "ok"}
    assert "Traceback" not in running.log


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no process is stopped here")
def test_what_was_taken_before_the_end_is_answered(slow: Slow) -> None:
    """A connection that brings its request late, and one that only the system has taken."""
    request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with server(slow, 10, 1) as running:
        place = ("127.0.0.1", running.port)
        with (
            socket.create_connection(place, timeout=10) as early,
            socket.create_connection(place, timeout=10) as late,
        ):
            assert running.send("/health", method="GET").status == 200
            running.process.send_signal(signal.SIGSTOP)
            with socket.create_connection(place, timeout=10) as last:
                last.sendall(request)
                running.process.send_signal(signal.SIGTERM)
                late.sendall(request)
                running.process.send_signal(signal.SIGCONT)
                running.wait_for_log("Shutting down")
                early.sendall(request)
                for each in (early, late, last):
                    assert each.recv(1000).startswith(b"HTTP/1.1 200 ")
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection(place, timeout=10)
        assert waited(running.process)[0] == 0


@pytest.mark.slow
async def test_clients_that_go_on_calling_lose_no_call(slow: Slow) -> None:
    """Each call is answered, or its connection is refused and nothing was sent."""
    with server(slow, 10, 2) as running:
        answers = [asyncio.Event() for _ in range(12)]
        clients = [
            asyncio.create_task(calls_until_refused(running.port, is_kept, answer))
            for is_kept, answer in zip((True, False) * 6, answers, strict=True)
        ]
        async with asyncio.timeout(60):
            await asyncio.gather(*(answer.wait() for answer in answers))
        running.process.send_signal(signal.SIGTERM)
        await asyncio.gather(*clients)
        code, _ = await asyncio.to_thread(waited, running.process)
    assert code == 0


async def calls_until_refused(port: int, is_kept: bool, answer: asyncio.Event) -> None:
    """Calls on, on one connection for as long as the server keeps it, and tells of answers."""
    body, more = rpc("tools/call", {"name": "quick", "arguments": {}})
    headers = {
        "Host": "localhost",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
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
            said = await reader.readuntil(b"\r\n\r\n")
            assert said.startswith(b"HTTP/1.1 200 ")
            is_last = b"connection: close" in said.lower()
            if b"chunked" in said:
                said = await reader.readuntil(b"0\r\n\r\n")
            else:
                (length,) = re.findall(rb"content-length: (\d+)", said)
                said = await reader.readexactly(int(length))
            assert b"quick" in said
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
def test_one_that_takes_longer_is_cancelled(
    slow: Slow, tool: str, workers: int
) -> None:
    with server(slow, 1, workers) as running:
        call = Call(running, slow, tool)
        slow.wait_for(lambda: "begun" in slow.told)
        running.process.send_signal(signal.SIGTERM)
        code, seconds = waited(running.process)
        call.join(30)
    assert "finished" not in call.answer
    assert code == 0
    assert seconds < CLOSED_WITHIN
    # A worker that does not let itself be ended is killed when all else is closed.
    killed = tool == "stubborn" and workers > 1
    assert (not killed) <= slow.told.count("atexit") <= workers - killed
    assert ("cancelled" in slow.told) == (tool == "async_endless")
    assert slow.outcomes == {tool: "cancelled"}


@pytest.mark.slow
@WORKERS
def test_a_second_signal_ends_at_once(slow: Slow, workers: int) -> None:
    with server(slow, 60, workers) as running:
        Call(running, slow, "sync_endless")
        slow.wait_for(lambda: "begun" in slow.told)
        running.process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            running.process.wait(0.5)
        running.process.send_signal(signal.SIGTERM)
        code, seconds = waited(running.process)
    assert (code, seconds < 5) == (128 + signal.SIGTERM, True)
    # A worker without a call had ended.
    assert slow.told in (["begun"], ["begun", "atexit"])[:workers]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=SLOW)])
def test_an_idle_server_ends_with_0(slow: Slow, workers: int) -> None:
    with server(slow, 10, workers) as running:
        Call(running, slow, "quick").join(30)
        code = running.stop()
    assert code == 0
    assert slow.told in (["atexit"], ["atexit", "atexit"])[:workers]


def test_a_port_that_is_taken_is_a_failure(slow: Slow) -> None:
    with server(slow, 10, 1) as running:
        words = ("--port", str(running.port))
        with (
            pytest.raises(AssertionError),
            run_server(
                *words, package="generated.slow", root=slow.root, env=slow.environment
            ) as second,
        ):
            pytest.fail(second.log)
