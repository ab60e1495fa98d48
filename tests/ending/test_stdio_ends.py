"""Shutdown of a stdio server by a signal or by the end of its input."""

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

from tests.ending.conftest import TIMEOUT_S, SlowProject, measure_exit
from tests.forked_servers import Process, run, start
from tests.mcp.servers import LEGACY, MODERN, encode_requests

SLOW = pytest.mark.slow
ENDLESS_TOOLS = pytest.mark.parametrize(
    "tool", ["sync_endless", "async_endless", pytest.param("stubborn", marks=SLOW)]
)


def encode_calls(era: str, *tools: str) -> bytes:
    """Return the messages of a client that calls these tools at once."""
    calls = [("tools/call", {"name": tool, "arguments": {}}) for tool in tools]
    return encode_requests(era, *calls).encode()


def build_command(grace: int) -> list[str]:
    """Return the command line of the server."""
    return [sys.executable, "-m", "generated.slow.mcp_server", "--grace", str(grace)]


@contextmanager
def run_slow_server(project: SlowProject, grace: int) -> Iterator[Process]:
    """Start the server; kill it on exit."""
    _, *arguments = build_command(grace)[1:]
    env = {**os.environ, **project.environment}
    process = start(project.root, *arguments, env=env)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def send(process: Process, data: bytes) -> IO[bytes]:
    """Send messages to the server and return its output stream."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(data)
    process.stdin.flush()
    return process.stdout


def stop(process: Process, trigger: str) -> None:
    """Close the input of the server or send it the named signal."""
    if trigger == "input":
        assert process.stdin is not None
        process.stdin.close()
    else:
        process.send_signal(getattr(signal, trigger))


def parse_results(output: bytes) -> dict[Any, str]:
    """Return the text of each call's result by message id."""
    messages = (json.loads(line) for line in output.splitlines())
    return {
        message["id"]: message["result"]["content"][0]["text"]
        for message in messages
        if "content" in message.get("result", {})
    }


# The cases cover each pair of tool, era and trigger.
@pytest.mark.parametrize(
    ("tool", "era", "trigger"),
    [
        ("sync_second", MODERN, "SIGTERM"),
        ("async_second", MODERN, "input"),
        pytest.param("sync_second", MODERN, "SIGINT", marks=SLOW),
        pytest.param("async_second", LEGACY, "SIGTERM", marks=SLOW),
        pytest.param("sync_second", LEGACY, "input", marks=SLOW),
        pytest.param("async_second", LEGACY, "SIGINT", marks=SLOW),
    ],
)
def test_stdio_mcp_server_finishes_a_running_call_after_a_signal_or_stdin_eof(
    project: SlowProject, tool: str, era: str, trigger: str
) -> None:
    with run_slow_server(project, 10) as process:
        output = send(process, encode_calls(era, tool))
        project.wait_for_event("begun")
        stop(process, trigger)
        assert parse_results(output.read()) == {tool: "finished"}
        assert process.wait(TIMEOUT_S) == 0
    assert project.events == ["begun", "atexit"]
    assert project.outcomes == {tool: "ok"}


# All signals take the same path; the fast suite runs one case, since each waits.
@pytest.mark.parametrize(
    ("tool", "trigger"),
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
def test_stdio_mcp_server_cancels_calls_that_exceed_the_grace_period_and_exits_with_0(
    project: SlowProject, tool: str, trigger: str
) -> None:
    with run_slow_server(project, 1) as process:
        output = send(process, encode_calls(LEGACY, tool))
        project.wait_for_event("begun")
        stop(process, trigger)
        code, seconds = measure_exit(process)
        assert parse_results(output.read()) == {}
    assert code == 0
    assert seconds > 0.5
    between = {"async_endless": ["cancelled"], "stubborn": ["refused"]}.get(tool, [])
    first, *others, last = project.events
    assert (first, last) == ("begun", "atexit")
    assert set(others) == set(between)
    assert project.outcomes == {tool: "cancelled"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_idle_stdio_mcp_server_exits_with_0_immediately_after_a_signal(
    project: SlowProject, number: int
) -> None:
    with run_slow_server(project, 600) as process:
        send(process, encode_calls(LEGACY, "quick")).readline()
        process.send_signal(number)
        assert process.wait(TIMEOUT_S) == 0
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    assert "atexit" in project.events or project.events == []


@ENDLESS_TOOLS
def test_stdio_mcp_server_ends_after_a_second_signal_without_waiting_for_calls(
    project: SlowProject, tool: str
) -> None:
    """Exit code is 128 plus the signal number."""
    grace = int(TIMEOUT_S)
    with run_slow_server(project, grace) as process:
        send(process, encode_calls(LEGACY, tool))
        project.wait_for_event("begun")
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.4)
        process.send_signal(signal.SIGTERM)
        code, seconds = measure_exit(process)
    assert code == 128 + signal.SIGTERM
    assert seconds < grace / 2
    assert project.events == ["begun"]


def test_stdio_mcp_server_cancels_calls_at_once_on_a_signal_after_stdin_eof(
    project: SlowProject,
) -> None:
    grace = int(TIMEOUT_S)
    with run_slow_server(project, grace) as process:
        send(process, encode_calls(LEGACY, "async_endless"))
        project.wait_for_event("begun")
        stop(process, "input")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.4)
        stop(process, "SIGTERM")
        code, seconds = measure_exit(process)
    assert code == 0
    assert seconds < grace / 2
    assert project.events == ["begun", "cancelled", "atexit"]


@pytest.mark.parametrize(
    ("source_kind", "era"),
    [
        ("pipe", MODERN),
        pytest.param("file", LEGACY, marks=SLOW),
        pytest.param("empty file", MODERN, marks=SLOW),
    ],
)
def test_stdio_mcp_server_answers_running_calls_after_stdin_eof(
    project: SlowProject, tmp_path: Path, source_kind: str, era: str
) -> None:
    expected = {"quick": "quick", "sync_second": "finished", "async_second": "finished"}
    expected = {} if source_kind == "empty file" else expected
    data = encode_calls(era, *expected) if expected else b""
    input_file, output_file = tmp_path / "input", tmp_path / "output"
    input_file.write_bytes(data)
    with input_file.open("rb") as source, output_file.open("wb") as sink:
        is_file = source_kind != "pipe"
        process = subprocess.run(
            build_command(10),
            input=None if is_file else data,
            stdin=source if is_file else None,
            stdout=sink if is_file else subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=project.root,
            env={**os.environ, **project.environment},
            timeout=60,
        )
    assert process.returncode == 0, process.stderr
    output = output_file.read_bytes() if is_file else process.stdout
    assert parse_results(output) == expected


def test_stdio_mcp_server_refuses_a_negative_grace_period(project: SlowProject) -> None:
    env = {**os.environ, **project.environment}
    process = run(project.root, *build_command(-1)[2:], env=env, input=b"")
    assert process.returncode == 2
    assert b"--grace must not be negative" in process.stderr
