"""What comes in over stdio in whatever pieces, and what is no message, as a process sees it."""

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
from tests.mcp.servers import meta
from toolcast_runtime.stdio.framing import MAX_LINE_BYTES

SERVER = "generated.unkind.mcp_server"
PATIENCE = 60.0


def request(number: Any, method: str, **params: Any) -> bytes:
    given = {**params, "_meta": meta()}
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
    return json.dumps(message, ensure_ascii=False).encode("utf-8")


def call(number: Any, tool: str, **arguments: Any) -> bytes:
    return request(number, "tools/call", name=tool, arguments=arguments)


def answers(unkind: Path, data: bytes) -> list[dict[str, Any]]:
    """Everything that a server writes when this is all that it gets, by the answers' ids."""
    ran = run(unkind, SERVER, env=os.environ, given=data)
    assert ran.returncode == 0, ran.stderr.decode()
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    return sorted(found, key=lambda message: str(message["id"]))


def text_of(answer: dict[str, Any]) -> str:
    text: str = answer["result"]["content"][0]["text"]
    return text


@contextmanager
def running(unkind: Path, stdin: int, stdout: int) -> Iterator[Process]:
    streams = {"stdin": stdin, "stdout": stdout, "stderr": subprocess.DEVNULL}
    process = start(unkind, SERVER, env=os.environ, **streams)
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
def server(unkind: Path) -> Iterator[Process]:
    with running(unkind, subprocess.PIPE, subprocess.PIPE) as process:
        yield process


def ask(server: Process, line: bytes) -> None:
    assert server.stdin is not None
    server.stdin.write(line + b"\n")
    server.stdin.flush()


def both_answers(server: Process, line: bytes) -> list[dict[str, Any]]:
    """The answers to a line and to a call that comes after it."""
    assert server.stdout is not None
    ask(server, line)
    ask(server, call(99, "add", a=1))
    return [json.loads(server.stdout.readline()) for _ in range(2)]


def test_everything_that_was_asked_is_answered_before_the_end(unkind: Path) -> None:
    lines = [call(n, "add", a=n) for n in range(1, 6)]
    found = answers(unkind, b"\n".join(lines))
    assert [text_of(answer) for answer in found] == [
        f'{{"sum": {n + 5}}}' for n in range(1, 6)
    ]


def test_blank_lines_and_windows_line_ends_are_no_matter(unkind: Path) -> None:
    data = b"\n \r\n\t\n" + call(1, "add", a=1) + b"\r\n\n" + call(2, "text") + b"\r\n"
    assert [answer["id"] for answer in answers(unkind, data)] == [1, 2]


def test_line_separators_of_unicode_end_no_line(unkind: Path) -> None:
    data = call(1, "refuse", reason="a\u2028b\x85c\u2029d")
    assert text_of(answers(unkind, data)[0]) == "a\u2028b\x85c\u2029d"


def test_pieces_are_put_together(unkind: Path) -> None:
    data = call(1, "refuse", reason="ü€😀" * 50) + b"\n"
    with running(unkind, subprocess.PIPE, subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        for start in range(0, len(data), 7):
            process.stdin.write(data[start : start + 7])
            process.stdin.flush()
            time.sleep(0)
        assert text_of(json.loads(process.stdout.readline())) == "ü€😀" * 50


LONG = b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * MAX_LINE_BYTES + b'"}'
SURROGATE = (
    b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\\ud800"}}'
)


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (LONG, None, -32600),
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
def test_what_is_no_message_gets_an_error(
    server: Process, line: bytes, number: Any, code: int
) -> None:
    found = both_answers(server, line)
    [error] = [answer for answer in found if "error" in answer]
    assert (error["id"], error["error"]["code"]) == (number, code)
    assert text_of(next(a for a in found if a["id"] == 99)) == '{"sum": 6}'


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":"\\ud800"}',
        b'{"jsonrpc":"2.0","id":4,"result":"\\ud800"}',
        b'{"jsonrpc":"2.0","method":7}',
    ],
)
def test_what_has_no_answer_gets_none(server: Process, line: bytes) -> None:
    ask(server, line)
    assert [answer["id"] for answer in both_answers(server, b"{")] == [None, 99]


@pytest.mark.slow
def test_the_bytes_are_those_of_the_sdk_s_own_transport(
    unkind: Path,
) -> None:
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    for first in (
        request(0, "server/discover"),
        json.dumps(
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
        ).encode(),
    ):
        modern = b"discover" in first
        asked = [
            first,
            request(1, "tools/list"),
            call(2, "add", a=1),
            call(3, "add", b="x"),
            call(4, "picture"),
            call(5, "array"),
            call("six", "echo", é=[1.5, 1e-7, 10**30, None, "\x7f\u2028"]),
            request(7, "tools/list", cursor="x"),
            request(8, "no/such"),
            call(9, "nope"),
        ]
        if not modern:
            asked = [without_meta(line) for line in asked]
        both = [over_the_sdk(unkind, asked), over_pipe(unkind, asked)]
        # A list's layout is that of the definitions.
        assert without_spaces(both[0]) == without_spaces(both[1])
        assert len(both[0]) == len(asked)


def without_spaces(lines: Iterable[bytes]) -> set[str]:
    return {json.dumps(json.loads(line), separators=(",", ":")) for line in lines}


def without_meta(line: bytes) -> bytes:
    message = json.loads(line)
    message["params"].pop("_meta", None)
    return json.dumps(message).encode()


def over_pipe(unkind: Path, asked: Iterable[bytes]) -> set[bytes]:
    ran = run(unkind, SERVER, env=os.environ, given=b"\n".join(asked))
    return set(ran.stdout.splitlines())


THE_SDK = """
import anyio
from mcp.server.stdio import stdio_server
from generated.unkind.mcp_server import SERVER

async def serve():
    server = SERVER.build()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(serve)
"""


def over_the_sdk(unkind: Path, asked: Iterable[bytes]) -> set[bytes]:
    lines = list(asked)
    with subprocess.Popen(
        [sys.executable, "-c", THE_SDK],
        cwd=unkind,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        # The SDK gives up what is under way when its input ends.
        process.stdin.write(b"".join(line + b"\n" for line in lines))
        process.stdin.flush()
        found = {process.stdout.readline().rstrip(b"\n") for _ in lines}
        process.stdin.close()
    return found


def test_a_file_is_served_as_a_pipe_is(unkind: Path, tmp_path: Path) -> None:
    asked, said = tmp_path / "asked", tmp_path / "said"
    asked.write_bytes(call(1, "add", a=1) + b"\n" + call(2, "hang_async"))
    with asked.open("rb") as source, said.open("wb") as sink:
        streams = {"stdin": source.fileno(), "stdout": sink.fileno()}
        with running(unkind, **streams) as process:
            assert process.wait(PATIENCE) == 0
    found = [json.loads(line) for line in said.read_bytes().splitlines()]
    assert [answer["id"] for answer in found] == [1, 2]


def test_a_terminal_is_served_as_a_pipe_is(unkind: Path) -> None:
    parent, child = os.openpty()
    tty.setraw(child)
    with running(unkind, child, child), os.fdopen(parent, "rb+", 0) as terminal:
        os.close(child)
        terminal.write(call(1, "add", a=1) + b"\n")
        line = b""
        while not line.endswith(b"\n"):
            line += terminal.read(1 << 16)
        assert text_of(json.loads(line)) == '{"sum": 6}'


def test_a_socket_is_served_as_a_pipe_is(unkind: Path) -> None:
    """As Node.js connects the servers that it starts."""
    ours, theirs = socket.socketpair()
    with theirs, running(unkind, theirs.fileno(), theirs.fileno()):
        theirs.close()
        ours.settimeout(PATIENCE)
        with ours, ours.makefile("rb") as lines:
            ours.sendall(call(1, "refuse", reason="x" * 1_000_000) + b"\n")
            assert len(text_of(json.loads(lines.readline()))) == 1_000_000


def test_a_client_that_closes_its_end_ends_the_server(unkind: Path) -> None:
    with running(unkind, subprocess.PIPE, subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(call(1, "add", a=1) + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(call(2, "add", a=1) + b"\n")
        process.stdin.flush()
        assert process.wait(PATIENCE) == 0


def test_progress_stays_before_its_answer(unkind: Path) -> None:
    params = {"name": "report", "arguments": {}, "_meta": meta(progressToken="p")}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    ran = run(unkind, SERVER, env=os.environ, given=json.dumps(message).encode())
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [m.get("method", "answer") for m in found] == [
        "notifications/progress",
        "notifications/progress",
        "answer",
    ]


BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_byte_order_mark_is_ignored(unkind: Path, line_end: bytes) -> None:
    lines = [BOM + request(1, "tools/list"), BOM + request("b", "tools/list")]
    found = answers(unkind, line_end.join([*lines, b""]))
    assert [message["id"] for message in found] == [1, "b"]
    assert all("result" in message for message in found)


@pytest.mark.parametrize(
    ("number", "cancelled"),
    [(7, "7"), ("7", 7), (7, 7), ("a", "a")],
)
def test_cancelled_call_does_not_delay_the_end(
    unkind: Path, number: Any, cancelled: Any
) -> None:
    """The SDK cancels a call whose id has another JSON type, which then has no response."""
    params = {"requestId": cancelled}
    notification = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
    cancel = json.dumps({**notification, "params": params}).encode()
    begin = time.monotonic()
    found = answers(unkind, b"\n".join([call(number, "take_long"), cancel, b""]))
    assert [message for message in found if "result" in message] == []
    assert time.monotonic() - begin < 5
