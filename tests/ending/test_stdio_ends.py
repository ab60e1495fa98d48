"""A server over stdio that is asked to end: by a signal, or by the end of its input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.ending.conftest import Slow, waited
from tests.forked_servers import Process, start
from tests.mcp.servers import ERAS, LEGACY, MODERN, encode_requests

SLOW = pytest.mark.slow
# The older era is served by the same process; all of these wait for seconds.
ERA = pytest.mark.parametrize(
    "era", [era if era != LEGACY else pytest.param(era, marks=SLOW) for era in ERAS]
)
ENDLESS = pytest.mark.parametrize(
    "tool",
    ["sync_endless", "async_endless", pytest.param("stubborn", marks=SLOW)],
)
# Closing takes at most five seconds more than the grace period; and starting is slow.
CLOSED_WITHIN = 15.0


def lines(era: str, *tools: str) -> bytes:
    """What a client sends to call tools, all at once."""
    calls = [("tools/call", {"name": tool, "arguments": {}}) for tool in tools]
    return encode_requests(era, *calls).encode()


def command(grace: int) -> list[str]:
    return [sys.executable, "-m", "generated.slow.mcp_server", "--grace", str(grace)]


@contextmanager
def server(slow: Slow, grace: int) -> Iterator[Process]:
    _, *words = command(grace)[1:]
    env = {**os.environ, **slow.environment}
    process = start(slow.root, *words, env=env)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def ask(process: Process, data: bytes) -> IO[bytes]:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(data)
    process.stdin.flush()
    return process.stdout


def end(process: Process, how: str) -> None:
    if how == "input":
        assert process.stdin is not None
        process.stdin.close()
    else:
        process.send_signal(getattr(signal, how))


def answers(output: bytes) -> dict[Any, str]:
    """The text of each call's result."""
    found = (json.loads(line) for line in output.splitlines())
    return {
        message["id"]: message["result"]["content"][0]["text"]
        for message in found
        if "content" in message.get("result", {})
    }


# Each two of the three meet once.
@pytest.mark.parametrize(
    ("tool", "era", "how"),
    [
        ("sync_second", MODERN, "SIGTERM"),
        ("async_second", MODERN, "input"),
        pytest.param("sync_second", MODERN, "SIGINT", marks=SLOW),
        pytest.param("async_second", LEGACY, "SIGTERM", marks=SLOW),
        pytest.param("sync_second", LEGACY, "input", marks=SLOW),
        pytest.param("async_second", LEGACY, "SIGINT", marks=SLOW),
    ],
)
def test_a_running_call_is_finished(slow: Slow, tool: str, era: str, how: str) -> None:
    with server(slow, 10) as process:
        output = ask(process, lines(era, tool))
        slow.wait_for(lambda: "begun" in slow.told)
        end(process, how)
        assert answers(output.read()) == {tool: "finished"}
        assert process.wait(30) == 0
    assert slow.told == ["begun", "atexit"]
    assert slow.outcomes == {tool: "ok"}


# What signals do is the same for all of them; each waits for seconds.
@pytest.mark.parametrize(
    ("tool", "how"),
    [
        ("sync_endless", "SIGTERM"),
        pytest.param("async_endless", "input", marks=SLOW),
        pytest.param("sync_endless", "input", marks=SLOW),
        pytest.param("async_endless", "SIGTERM", marks=SLOW),
        pytest.param("async_endless", "SIGINT", marks=SLOW),
        pytest.param("stubborn", "SIGTERM", marks=SLOW),
        pytest.param("stubborn", "input", marks=SLOW),
    ],
)
def test_one_that_takes_longer_is_cancelled(slow: Slow, tool: str, how: str) -> None:
    with server(slow, 1) as process:
        output = ask(process, lines(LEGACY, tool))
        slow.wait_for(lambda: "begun" in slow.told)
        end(process, how)
        code, seconds = waited(process)
        assert answers(output.read()) == {}
    assert code == 0
    assert 0.5 < seconds < CLOSED_WITHIN
    between = {"async_endless": ["cancelled"], "stubborn": ["refused"]}.get(tool, [])
    told = slow.told
    assert (told[0], told[-1]) == ("begun", "atexit")
    assert set(told[1:-1]) == set(between)
    assert slow.outcomes == {tool: "cancelled"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_server_ends_at_once_with_0(slow: Slow, number: int) -> None:
    with server(slow, 10) as process:
        ask(process, lines(LEGACY, "quick")).readline()
        process.send_signal(number)
        code, seconds = waited(process)
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    assert (code, seconds < CLOSED_WITHIN) == (0, True)
    assert "atexit" in slow.told or slow.told == []


@ENDLESS
def test_a_second_signal_ends_at_once(slow: Slow, tool: str) -> None:
    with server(slow, 60) as process:
        ask(process, lines(LEGACY, tool))
        slow.wait_for(lambda: "begun" in slow.told)
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.4)
        process.send_signal(signal.SIGTERM)
        code, seconds = waited(process)
    assert (code, seconds < 5) == (128 + signal.SIGTERM, True)
    assert slow.told == ["begun"]


def test_a_client_that_has_left_and_signals_is_not_waited_for(slow: Slow) -> None:
    with server(slow, 60) as process:
        ask(process, lines(LEGACY, "async_endless"))
        slow.wait_for(lambda: "begun" in slow.told)
        end(process, "input")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.4)
        end(process, "SIGTERM")
        code, seconds = waited(process)
    assert (code, seconds < CLOSED_WITHIN) == (0, True)
    assert slow.told == ["begun", "cancelled", "atexit"]


@ERA
@pytest.mark.parametrize(
    "given", ["pipe", *(pytest.param(f, marks=SLOW) for f in ("file", "empty file"))]
)
def test_calls_under_way_when_the_input_ends_are_answered(
    slow: Slow, tmp_path: Path, given: str, era: str
) -> None:
    tools = () if given == "empty file" else ("quick", "sync_second", "async_second")
    data = lines(era, *tools) if tools else b""
    asked, told = tmp_path / "asked", tmp_path / "told"
    asked.write_bytes(data)
    env = {**os.environ, **slow.environment}
    with asked.open("rb") as source, told.open("wb") as sink:
        is_file = given != "pipe"
        ran = subprocess.run(
            command(10),
            input=None if is_file else data,
            stdin=source if is_file else None,
            stdout=sink if is_file else subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=slow.root,
            env=env,
            timeout=60,
        )
    assert ran.returncode == 0, ran.stderr
    found = answers(told.read_bytes() if is_file else ran.stdout)
    expected = {"quick": "quick", "sync_second": "finished", "async_second": "finished"}
    assert found == (expected if tools else {})


def test_a_grace_that_is_negative_is_refused(slow: Slow) -> None:
    ran = subprocess.run(
        command(-1),
        cwd=slow.root,
        env={**os.environ, **slow.environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2
    assert "--grace must not be negative" in ran.stderr
