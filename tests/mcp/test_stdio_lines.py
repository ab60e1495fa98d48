"""Lines on stdin of a server process: chunks, invalid messages, stream types and exit."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import tty
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.forked_servers import Process, run, start
from tests.mcp.servers import CLIENT, get_text, meta
from toolcast_runtime.stdio.framing import MAX_LINE_BYTES

SERVER = "generated.faulty.mcp_server"
TIMEOUT_S = 60.0


def encode_request(number: Any, method: str, **params: Any) -> bytes:
    """Return the line of a request, without the line end."""
    params["_meta"] = meta()
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message, ensure_ascii=False).encode("utf-8")


def encode_call(number: Any, tool: str, **arguments: Any) -> bytes:
    """Return the line of a tool call, without the line end."""
    return encode_request(number, "tools/call", name=tool, arguments=arguments)


def run_with_input(faulty_project: Path, data: bytes) -> list[dict[str, Any]]:
    """Run a server with this stdin, and return its answers sorted by id."""
    process = run(faulty_project, SERVER, env=os.environ, input=data)
    assert process.returncode == 0, process.stderr.decode()
    messages = [json.loads(line) for line in process.stdout.splitlines()]
    return sorted(messages, key=lambda message: str(message["id"]))


@contextmanager
def running_server(faulty_project: Path, stdin: int, stdout: int) -> Iterator[Process]:
    streams = {"stdin": stdin, "stdout": stdout, "stderr": subprocess.DEVNULL}
    process = start(faulty_project, SERVER, env=os.environ, **streams)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


@pytest.fixture(scope="module")
def server(faulty_project: Path) -> Iterator[Process]:
    with running_server(faulty_project, subprocess.PIPE, subprocess.PIPE) as process:
        yield process


def write_line(server: Process, line: bytes) -> None:
    assert server.stdin is not None
    server.stdin.write(line + b"\n")
    server.stdin.flush()


def send_with_call(server: Process, line: bytes) -> list[dict[str, Any]]:
    """Send a line and then a call, and return the two answers."""
    assert server.stdout is not None
    write_line(server, line)
    write_line(server, encode_call(99, "add", a=1))
    return [json.loads(server.stdout.readline()) for _ in range(2)]


def test_mcp_stdio_server_answers_all_requests_before_it_exits_when_input_ends(
    faulty_project: Path,
) -> None:
    """Blank lines, Windows line ends and byte order marks are ignored.

    Line separators of Unicode do not end a message.
    """
    text = "a\u2028b\x85c\u2029d"
    data = b"\n \r\n\t\n\xef\xbb\xbf" + encode_call(1, "add", a=1) + b"\r\n\n"
    data += b"\xef\xbb\xbf" + encode_call(2, "add", a=2) + b"\n"
    data += encode_call(3, "refuse", reason=text)
    texts = [get_text(answer) for answer in run_with_input(faulty_project, data)]
    assert texts == ['{"sum": 6}', '{"sum": 7}', text]


TOO_LONG = b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * MAX_LINE_BYTES + b'"}'
SURROGATE = b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"name":"\\ud800"}}'


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (TOO_LONG, None, -32600),
        (SURROGATE, 7, -32600),
        (SURROGATE.replace(b"7", b'"\\udfff"'), "\udfff", -32600),
        (b"{", None, -32700),
        (b"hello", None, -32700),
        (b"\xff\xfe", None, -32700),
        (b'{"id": 1, "method": "x\xff"}', None, -32700),
        (b"[" * 100_000, None, -32700),
        (b"9" * 5_000, None, -32700),
        (b"[]", None, -32600),
        (b"[" + SURROGATE + b"]", None, -32600),
        (b"3", None, -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"1.0","id":4,"method":"ping"}', 4, -32600),
        (b'{"jsonrpc":"2.0","id":4,"method":8}', 4, -32600),
        (b'{"jsonrpc":"2.0","id":4,"method":"ping","params":[1]}', 4, -32600),
    ],
    ids=range(17),
)
def test_invalid_mcp_server_stdin_line_is_a_json_rpc_error_and_the_next_call_works(
    server: Process, line: bytes, number: Any, code: int
) -> None:
    messages = send_with_call(server, line)
    [error] = [answer for answer in messages if "error" in answer]
    assert (error["id"], error["error"]["code"]) == (number, code)
    assert get_text(next(a for a in messages if a["id"] == 99)) == '{"sum": 6}'


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":"\\ud800"}',
        b'{"jsonrpc":"2.0","id":4,"result":"\\ud800"}',
        b'{"jsonrpc":"2.0","method":7}',
    ],
)
def test_invalid_json_rpc_notification_on_stdin_has_no_answer(
    server: Process, line: bytes
) -> None:
    write_line(server, line)
    assert [answer["id"] for answer in send_with_call(server, b"{")] == [None, 99]


@pytest.mark.slow
def test_generated_mcp_server_answers_stdin_lines_like_the_sdk_stdio_transport(
    faulty_project: Path,
) -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}}
    hello = encode_request(0, "initialize", **params, clientInfo=CLIENT)
    for first in (encode_request(0, "server/discover"), hello):
        lines = [
            first,
            encode_request(1, "tools/list"),
            encode_call(2, "add", a=1),
            encode_call(3, "add", b="x"),
            encode_call(4, "picture"),
            encode_call(5, "array"),
            encode_call("six", "echo", é=[1.5, 1e-7, 10**30, None, "\x7f\u2028"]),
            encode_request(7, "tools/list", cursor="x"),
            encode_request(8, "no/such"),
            encode_call(9, "nope"),
        ]
        if first is hello:
            lines = [remove_meta(line) for line in lines]
        expected = run_sdk_server(faulty_project, lines)
        process = run(faulty_project, SERVER, env=os.environ, input=b"\n".join(lines))
        actual = process.stdout.splitlines()
        # White space differs, because `tools/list` has the layout of the definition files.
        assert remove_white_space(expected) == remove_white_space(actual)
        assert len(expected) == len(lines)


def remove_white_space(lines: Iterable[bytes]) -> set[str]:
    return {json.dumps(json.loads(line), separators=(",", ":")) for line in lines}


def remove_meta(line: bytes) -> bytes:
    message = json.loads(line)
    message["params"].pop("_meta", None)
    return json.dumps(message).encode()


SDK_SERVER = """
import anyio
from mcp.server.stdio import stdio_server
from generated.faulty.mcp_server import SERVER

async def serve():
    server = SERVER.build()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(serve)
"""


def run_sdk_server(faulty_project: Path, lines: list[bytes]) -> set[bytes]:
    with subprocess.Popen(
        [sys.executable, "-c", SDK_SERVER],
        cwd=faulty_project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        # The SDK drops running requests when its stdin is closed.
        process.stdin.write(b"".join(line + b"\n" for line in lines))
        process.stdin.flush()
        answer_lines = {process.stdout.readline().rstrip(b"\n") for _ in lines}
        process.stdin.close()
    return answer_lines


def test_mcp_stdio_server_works_with_files_as_stdin_and_stdout(
    faulty_project: Path, tmp_path: Path
) -> None:
    requests, output = tmp_path / "requests", tmp_path / "output"
    lines = encode_call(1, "add", a=1), encode_call(2, "hang_async")
    requests.write_bytes(b"\n".join(lines))
    with requests.open("rb") as source, output.open("wb") as sink:
        streams = {"stdin": source.fileno(), "stdout": sink.fileno()}
        with running_server(faulty_project, **streams) as process:
            assert process.wait(TIMEOUT_S) == 0
    messages = [json.loads(line) for line in output.read_bytes().splitlines()]
    assert [answer["id"] for answer in messages] == [1, 2]


def test_mcp_server_works_with_a_terminal_as_its_stdio(faulty_project: Path) -> None:
    parent, child = os.openpty()
    tty.setraw(child)
    with (
        running_server(faulty_project, child, child),
        os.fdopen(parent, "rb+", 0) as terminal,
    ):
        os.close(child)
        terminal.write(encode_call(1, "add", a=1) + b"\n")
        line = b""
        while not line.endswith(b"\n"):
            line += terminal.read(1 << 16)
        assert get_text(json.loads(line)) == '{"sum": 6}'


def test_mcp_server_works_with_a_socket_as_its_stdio(faulty_project: Path) -> None:
    """Node.js connects the processes that it starts with sockets."""
    ours, theirs = socket.socketpair()
    with theirs, running_server(faulty_project, theirs.fileno(), theirs.fileno()):
        theirs.close()
        ours.settimeout(TIMEOUT_S)
        with ours, ours.makefile("rb") as lines:
            ours.sendall(encode_call(1, "refuse", reason="x" * 1_000_000) + b"\n")
            assert len(get_text(json.loads(lines.readline()))) == 1_000_000


def test_mcp_server_exits_with_0_after_stdout_is_closed(faulty_project: Path) -> None:
    with running_server(faulty_project, subprocess.PIPE, subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(encode_call(1, "add", a=1) + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(encode_call(2, "add", a=1) + b"\n")
        process.stdin.flush()
        assert process.wait(TIMEOUT_S) == 0


CALL_S = 50
"""Duration of an uncancelled call; a loaded machine starts a server much faster."""


@pytest.mark.parametrize(
    ("number", "cancelled"), [(7, "7"), ("7", 7), (7, 7), ("a", "a")]
)
def test_cancelled_mcp_call_does_not_delay_the_stdio_server_exit(
    faulty_project: Path, number: Any, cancelled: Any
) -> None:
    """The SDK cancels a call whose id has another JSON type, which then has no response."""
    params = {"requestId": cancelled}
    notification = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    cancel = json.dumps({**notification, "params": params}).encode()
    start_time = time.monotonic()
    lines = [encode_call(number, "take_long", seconds=CALL_S), cancel, b""]
    messages = run_with_input(faulty_project, b"\n".join(lines))
    assert [message for message in messages if "result" in message] == []
    assert time.monotonic() - start_time < CALL_S
