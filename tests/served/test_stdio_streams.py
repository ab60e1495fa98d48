"""The streams under the session: a client that stops reading stops nobody else."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import socket
import tty
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from toolcast_runtime.stdio.framing import LineSplitter, RawJson, encode_message
from toolcast_runtime.stdio.streams import (
    MAX_UNSENT_BYTES,
    SEND_PAUSE_BYTES,
    IncomingMessages,
    OutgoingMessages,
)

Ends = tuple[int, int]


def pipe() -> Ends:
    return os.pipe()


def sockets() -> Ends:
    ours, theirs = socket.socketpair()
    return ours.detach(), theirs.detach()


def terminal() -> Ends:
    parent, child = os.openpty()
    tty.setraw(child)
    return child, parent


each_kind = pytest.mark.parametrize("kind", [pipe, sockets, terminal])


class Wire:
    """Both streams of a server, and the client's ends of them."""

    def __init__(self, kind: Callable[[], Ends]) -> None:
        self.source, self.ask = kind()
        self.read, self.sink = kind()
        self.outgoing = OutgoingMessages(self.sink, 2)
        self.incoming = IncomingMessages(self.source, self.outgoing)

    def request(self, number: int) -> None:
        message = {"jsonrpc": "2.0", "id": number, "method": "ping"}
        os.write(self.ask, json.dumps(message).encode() + b"\n")

    async def answer(self, number: int, size: int = 0) -> None:
        result = {"text": "x" * size}
        message = JSONRPCResponse(jsonrpc="2.0", id=number, result=result)
        await self.outgoing.send(SessionMessage(message))

    async def all_read(self, size: int) -> bytes:
        """What the client reads, in a thread, as a process of its own would."""

        def read() -> bytes:
            data = b""
            while len(data) < size:
                data += os.read(self.read, 1 << 16)
            return data

        return await asyncio.to_thread(read)


@asynccontextmanager
async def wire(kind: Callable[[], Ends]) -> AsyncIterator[Wire]:
    made = Wire(kind)
    try:
        yield made
    finally:
        made.incoming.close()
        made.outgoing.close()


@each_kind
async def test_a_client_that_does_not_read_holds_up_no_other_work(
    kind: Callable[[], Ends],
) -> None:
    async with wire(kind) as made:
        sending = asyncio.create_task(made.answer(1, 3 * SEND_PAUSE_BYTES))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not sending.done(), "it was taken by a pipe that nobody reads"
        expected = encode_message(
            JSONRPCResponse(
                jsonrpc="2.0", id=1, result={"text": "x" * 3 * SEND_PAUSE_BYTES}
            )
        )
        assert await made.all_read(len(expected)) == expected
        await sending


@each_kind
async def test_messages_are_whole_and_in_order_whatever_waits(
    kind: Callable[[], Ends],
) -> None:
    async with wire(kind) as made:
        expected, sizes = b"", [10, 100_000, 7, 70_000, 0, 4_096, 4_095, 300_000]
        tasks = []
        for number, size in enumerate(sizes):
            result = {"text": "x" * size}
            expected += encode_message(
                JSONRPCResponse(jsonrpc="2.0", id=number, result=result)
            )
            tasks.append(asyncio.create_task(made.answer(number, size)))
            await asyncio.sleep(0)
        assert await made.all_read(len(expected)) == expected
        await asyncio.gather(*tasks)


@pytest.mark.parametrize("kind", [pipe, sockets])
async def test_a_short_line_is_there_as_soon_as_it_is_written(
    kind: Callable[[], Ends],
) -> None:
    async with wire(kind) as made:
        made.outgoing.write(b"short\n")
        assert made.outgoing.unsent == 0
        assert os.read(made.read, 100) == b"short\n"
        assert os.get_blocking(made.source) and os.get_blocking(made.sink)


@each_kind
@pytest.mark.parametrize("blocks", [True, False])
async def test_a_short_line_for_a_client_that_takes_nothing_waits_for_nobody(
    kind: Callable[[], Ends], blocks: bool
) -> None:
    async with wire(kind) as made:
        os.set_blocking(made.sink, False)
        filled = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                filled += os.write(made.sink, b"x" * 1_000)
        os.set_blocking(made.sink, blocks)
        made.outgoing.write(b"one\n")
        made.outgoing.write(b"two\n")
        assert made.outgoing.unsent == 8
        assert (await made.all_read(filled + 8))[filled:] == b"one\ntwo\n"


async def test_what_somebody_else_reads_is_waited_for_no_longer() -> None:
    async with wire(pipe) as made:
        os.set_blocking(made.source, False)
        other = IncomingMessages(made.source, made.outgoing)
        both = {asyncio.create_task(each.receive()) for each in (made.incoming, other)}
        await asyncio.sleep(0)
        made.request(1)
        _, waits = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0.05)
        [still] = waits
        still.cancel()
        other.close()


async def test_a_cancelled_sender_tears_no_message() -> None:
    async with wire(pipe) as made:
        size = 2 * SEND_PAUSE_BYTES
        sending = asyncio.create_task(made.answer(1, size))
        await asyncio.sleep(0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        later = asyncio.create_task(made.answer(2))
        wanted = [
            encode_message(
                JSONRPCResponse(jsonrpc="2.0", id=n, result={"text": "x" * s})
            )
            for n, s in ((1, size), (2, 0))
        ]
        assert await made.all_read(sum(map(len, wanted))) == b"".join(wanted)
        await later


async def test_nothing_more_is_taken_from_a_client_that_leaves_too_much_unread() -> (
    None
):
    async with wire(pipe) as made:
        made.outgoing.write(b"x" * (MAX_UNSENT_BYTES + (1 << 20)))
        made.request(1)
        receiving = asyncio.create_task(made.incoming.receive())
        await asyncio.sleep(0.05)
        assert not receiving.done()
        assert made.outgoing.unanswered_ids == set()
        await made.all_read(MAX_UNSENT_BYTES + (1 << 20))
        async with asyncio.timeout(30):
            received = await receiving
        assert isinstance(received.message, JSONRPCRequest)


@pytest.mark.parametrize(("unsent", "waits"), [(1_048_576, False), (1_048_577, True)])
async def test_who_sends_waits_behind_a_mebibyte(unsent: int, waits: bool) -> None:
    async with wire(pipe) as made:
        own = len(
            encode_message(JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": ""}))
        )
        made.outgoing.write(b"x" * (unsent - own))
        sending = asyncio.create_task(made.answer(1))
        for _ in range(5):
            await asyncio.sleep(0)
        assert made.outgoing.unsent == unsent
        assert sending.done() is not waits
        await made.all_read(unsent)
        await sending


@pytest.mark.parametrize(("unsent", "waits"), [(4_194_304, False), (4_194_305, True)])
async def test_a_client_is_heard_up_to_four_mebibytes(unsent: int, waits: bool) -> None:
    async with wire(pipe) as made:
        made.outgoing.write(b"x" * unsent)
        made.request(1)
        receiving = asyncio.create_task(made.incoming.receive())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(receiving), 0.05 if waits else 30)
        assert receiving.done() is not waits
        await made.all_read(unsent)
        await receiving


async def test_a_client_has_five_seconds_for_the_last_answers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    timeout, given = asyncio.timeout, list[float]()

    def shorter(seconds: float) -> asyncio.Timeout:
        given.append(seconds)
        return timeout(0.01)

    async with wire(pipe) as made:
        made.outgoing.write(b"x" * 500_000)
        monkeypatch.setattr(asyncio, "timeout", shorter)
        await made.outgoing.aclose()
        monkeypatch.undo()
        await made.all_read(500_000)
    assert given == [5.0]
    assert "the client did not read the last responses" in caplog.text


@pytest.mark.slow
async def test_refusals_that_nobody_reads_do_not_pile_up() -> None:
    """A client sends rubbish for ever, and takes none of the answers."""
    async with wire(sockets) as made:
        receiving = asyncio.create_task(made.incoming.receive())
        os.set_blocking(made.ask, False)
        sent, quiet = 0, 0
        while quiet < 20:
            try:
                sent += os.write(made.ask, b"x\n" * 10_000)
                quiet = 0
            except BlockingIOError:
                quiet += 1
            await asyncio.sleep(0.01)
            assert sent < 10_000_000
        assert not receiving.done()
        receiving.cancel()


async def test_no_more_is_read_ahead_than_the_session_takes() -> None:
    async with wire(sockets) as made:
        os.set_blocking(made.ask, False)
        sent, quiet = 0, 0
        while quiet < 20:
            try:
                made.request(sent)
                sent += 1
                quiet = 0
            except BlockingIOError:
                quiet += 1
                await asyncio.sleep(0.01)
            assert sent < 100_000
        async with asyncio.timeout(30):
            for number in range(sent):
                received = await made.incoming.receive()
                assert isinstance(received.message, JSONRPCRequest)
                assert received.message.id == number


async def read_ahead(made: Wire) -> int:
    """How many requests, each sent by itself, are read while the session takes none."""
    for number in range(100):
        made.request(number)
        for _ in range(50):
            if not select.select([made.source], [], [], 0)[0]:
                break
            await asyncio.sleep(0.01)
        else:
            return number
    return 100


async def test_no_more_is_read_ahead_of_a_session_that_has_waited() -> None:
    async with wire(pipe) as new, wire(pipe) as idle:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await idle.incoming.receive()
        assert await read_ahead(idle) == await read_ahead(new) == 2


async def test_descriptors_that_do_not_block_are_waited_for() -> None:
    """A parent may have set them so, for itself as well."""
    async with wire(pipe) as made:
        os.set_blocking(made.source, False)
        os.set_blocking(made.sink, False)
        made.request(1)
        received = await made.incoming.receive()
        assert isinstance(received.message, JSONRPCRequest)
        sending = asyncio.create_task(made.answer(1, 300_000))
        assert len(await made.all_read(300_000)) >= 300_000
        await sending
        made.request(2)
        await made.incoming.receive()


async def test_a_file_is_served_as_a_pipe_is(tmp_path: Path) -> None:
    asked, said = tmp_path / "asked", tmp_path / "said"
    asked.write_bytes(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    with asked.open("rb") as source, said.open("wb") as sink:
        outgoing = OutgoingMessages(sink.fileno(), 2)
        incoming = IncomingMessages(source.fileno(), outgoing)
        async for item in incoming:
            assert isinstance(item.message, JSONRPCRequest)
            answer = JSONRPCResponse(jsonrpc="2.0", id=item.message.id, result={})
            await outgoing.send(SessionMessage(answer))
        await outgoing.aclose()
    assert json.loads(said.read_bytes()) == {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_the_end_is_told_once_everything_is_answered() -> None:
    async with wire(pipe) as made:
        made.request(1)
        os.close(made.ask)
        await made.incoming.receive()
        end = asyncio.create_task(made.incoming.receive())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not end.done()
        await made.answer(1)
        with pytest.raises(anyio.EndOfStream):
            await end
        assert [message async for message in made.incoming] == []


async def test_what_a_client_that_has_left_was_asked_is_answered_for_it() -> None:
    async with wire(pipe) as made:
        made.request(1)
        os.write(made.ask, b'{"jsonrpc": "2.0", "id": 8, "result": {}}\n')
        for number in (7, 8):
            asked = JSONRPCRequest(jsonrpc="2.0", id=number, method="ping")
            await made.outgoing.send(SessionMessage(asked))
        os.close(made.ask)
        async with asyncio.timeout(1.5):
            heard = [(await made.incoming.receive()).message for _ in range(3)]
            assert isinstance(heard[2], JSONRPCError)
            assert (heard[2].id, heard[2].error.message) == (
                7,
                "the client closed the connection",
            )
            await made.answer(1)
            with pytest.raises(anyio.EndOfStream):
                await made.incoming.receive()


async def test_a_cancelled_request_is_not_waited_for() -> None:
    async with wire(pipe) as made:
        made.request(1)
        gone = {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": 1},
        }
        os.write(made.ask, json.dumps(gone).encode())
        os.close(made.ask)
        async with asyncio.timeout(30):
            kinds = [type(item.message) async for item in made.incoming]
        assert kinds == [JSONRPCRequest, JSONRPCNotification]


async def test_a_client_that_is_gone_ends_the_input() -> None:
    async with wire(pipe) as made:
        os.close(made.read)
        await made.answer(1)
        with pytest.raises(anyio.EndOfStream):
            await made.incoming.receive()
        with pytest.raises(anyio.BrokenResourceError):
            await made.answer(2)


async def test_the_last_answers_are_sent_before_the_stream_closes() -> None:
    async with wire(pipe) as made:
        made.outgoing.write(b"x" * 500_000)
        closing = asyncio.create_task(made.outgoing.aclose())
        assert len(await made.all_read(500_000)) == 500_000
        async with asyncio.timeout(30):
            await closing


def split(pieces: Iterator[bytes], most: int = 100) -> list[bytes | None]:
    splitter, found = LineSplitter(most), list[bytes | None]()
    for piece in pieces:
        found += splitter.feed(piece)
    return found + list(splitter.finish())


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1_000])
def test_lines_do_not_depend_on_their_pieces(size: int) -> None:
    data = b"one\n\n \r\ntwo\r\n" + b"x" * 101 + b"\nthree\n" + b"y" * 100 + b"\nfour"
    pieces = (data[start : start + size] for start in range(0, len(data), size))
    wanted = [b"one", b"two\r", None, b"three", b"y" * 100, b"four"]
    assert split(pieces) == wanted


def test_a_line_without_end_is_not_kept() -> None:
    splitter = LineSplitter(100)
    for _ in range(1_000):
        assert list(splitter.feed(b"x" * 1_000)) == []
    assert splitter._parts == []
    assert list(splitter.feed(b"\nshort\n")) == [None, b"short"]


def test_raw_json_stands_where_the_tools_were() -> None:
    result: dict[str, Any] = {"a": "tools", "tools": RawJson(b'[{"n":1.50}]'), "z": []}
    message = JSONRPCResponse(jsonrpc="2.0", id="t", result=result)
    assert encode_message(message) == (
        b'{"jsonrpc":"2.0","id":"t",'
        b'"result":{"a":"tools","tools":[{"n":1.50}],"z":[]}}\n'
    )


def test_an_answer_that_cannot_be_written_is_an_error() -> None:
    message = JSONRPCResponse(jsonrpc="2.0", id=3, result={"text": "\ud800"})
    error = json.loads(encode_message(message))
    assert (error["id"], error["error"]["code"]) == (3, -32603)
