"""Stdio streams: slow and closed clients, order, limits and sessions."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import socket
import tty
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from generated.kirishima.mcp_server import SERVER
from tests.mcp.servers import CLIENT, LEGACY, meta
from toolcast_runtime.mcp.sdk_server import build_server
from toolcast_runtime.stdio import streams as streams_module
from toolcast_runtime.stdio.framing import encode_message
from toolcast_runtime.stdio.streams import (
    SEND_PAUSE_BYTES,
    IncomingMessages,
    OutgoingMessages,
)

Ends = tuple[int, int]


def open_pipe() -> Ends:
    return os.pipe()


def open_sockets() -> Ends:
    read, write = socket.socketpair()
    return read.detach(), write.detach()


def open_terminal() -> Ends:
    parent, child = os.openpty()
    tty.setraw(child)
    return child, parent


each_stream_kind = pytest.mark.parametrize(
    "open_ends", [open_pipe, open_sockets, open_terminal]
)


def make_response(number: int, size: int = 0) -> JSONRPCResponse:
    """Return an answer with a text of this size."""
    return JSONRPCResponse(jsonrpc="2.0", id=number, result={"text": "x" * size})


class Streams:
    """Both streams of a server with the client's ends."""

    def __init__(self, open_ends: Callable[[], Ends]) -> None:
        self.source, self.client_write = open_ends()
        self.client_read, self.sink = open_ends()
        self.outgoing = OutgoingMessages(self.sink, 2)
        self.incoming = IncomingMessages(self.source, self.outgoing)

    def request(self, number: int) -> None:
        """Write a request as the client."""
        message = {"jsonrpc": "2.0", "id": number, "method": "ping"}
        os.write(self.client_write, json.dumps(message).encode() + b"\n")

    async def answer(self, number: int, size: int = 0) -> None:
        """Send an answer with a text of this size as the server."""
        await self.outgoing.send(SessionMessage(make_response(number, size)))

    async def read_bytes(self, size: int) -> bytes:
        """Read at least `size` bytes as the client, in a thread."""

        def read() -> bytes:
            data = b""
            while len(data) < size:
                data += os.read(self.client_read, 1 << 16)
            return data

        return await asyncio.to_thread(read)


@asynccontextmanager
async def open_streams(open_ends: Callable[[], Ends]) -> AsyncIterator[Streams]:
    """Open both streams, and close the server's ends afterwards."""
    streams = Streams(open_ends)
    try:
        yield streams
    finally:
        streams.incoming.close()
        streams.outgoing.close()


@each_stream_kind
async def test_stdio_send_to_a_client_that_does_not_read_does_not_block_the_event_loop(
    open_ends: Callable[[], Ends],
) -> None:
    """Answers are pending until the client reads them."""
    async with open_streams(open_ends) as streams:
        sending = asyncio.create_task(streams.answer(1, 3 * SEND_PAUSE_BYTES))
        for _ in range(50):
            await asyncio.sleep(0)
        assert not sending.done()
        expected = encode_message(make_response(1, 3 * SEND_PAUSE_BYTES))
        assert await streams.read_bytes(len(expected)) == expected
        await sending


@each_stream_kind
async def test_concurrently_sent_stdio_messages_arrive_in_order(
    open_ends: Callable[[], Ends],
) -> None:
    async with open_streams(open_ends) as streams:
        expected, sizes = b"", [10, 100_000, 7, 70_000, 0, 4_096, 4_095, 300_000]
        tasks = []
        for number, size in enumerate(sizes):
            expected += encode_message(make_response(number, size))
            tasks.append(asyncio.create_task(streams.answer(number, size)))
            await asyncio.sleep(0)
        assert await streams.read_bytes(len(expected)) == expected
        await asyncio.gather(*tasks)


@pytest.mark.parametrize("open_ends", [open_pipe, open_sockets])
async def test_short_stdio_line_is_written_immediately_and_descriptors_stay_blocking(
    open_ends: Callable[[], Ends],
) -> None:
    async with open_streams(open_ends) as streams:
        longest = b"x" * (select.PIPE_BUF - 1) + b"\n"
        for line in (b"short\n", longest):
            streams.outgoing.write(line)
            assert streams.outgoing.unsent == 0
            assert os.read(streams.client_read, len(line)) == line
        assert os.get_blocking(streams.source) and os.get_blocking(streams.sink)


@each_stream_kind
@pytest.mark.parametrize("blocks", [True, False])
async def test_short_line_to_a_full_stdio_stream_is_buffered(
    open_ends: Callable[[], Ends], blocks: bool
) -> None:
    async with open_streams(open_ends) as streams:
        os.set_blocking(streams.sink, False)
        filled = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                filled += os.write(streams.sink, b"x" * 1_000)
        os.set_blocking(streams.sink, blocks)
        streams.outgoing.write(b"one\n")
        streams.outgoing.write(b"two\n")
        assert streams.outgoing.unsent == 8
        assert (await streams.read_bytes(filled + 8))[filled:] == b"one\ntwo\n"


async def test_second_stdio_reader_still_waits_after_the_first_received() -> None:
    async with open_streams(open_pipe) as streams:
        os.set_blocking(streams.source, False)
        other = IncomingMessages(streams.source, streams.outgoing)
        readers = (streams.incoming, other)
        tasks = {asyncio.create_task(reader.receive()) for reader in readers}
        await asyncio.sleep(0)
        streams.request(1)
        _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0.05)
        [waiting] = pending
        waiting.cancel()
        other.close()


async def test_cancelled_senders_stdio_message_is_sent_completely() -> None:
    async with open_streams(open_pipe) as streams:
        size = 2 * SEND_PAUSE_BYTES
        sending = asyncio.create_task(streams.answer(1, size))
        await asyncio.sleep(0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        later = asyncio.create_task(streams.answer(2))
        answers = make_response(1, size), make_response(2)
        expected = b"".join(map(encode_message, answers))
        assert await streams.read_bytes(len(expected)) == expected
        await later


@pytest.mark.parametrize(("unsent", "waits"), [(1_048_576, False), (1_048_577, True)])
async def test_stdio_sender_waits_if_more_than_one_mebibyte_is_unsent(
    unsent: int, waits: bool
) -> None:
    async with open_streams(open_pipe) as streams:
        size = len(encode_message(make_response(1)))
        streams.outgoing.write(b"x" * (unsent - size))
        sending = asyncio.create_task(streams.answer(1))
        for _ in range(5):
            await asyncio.sleep(0)
        assert streams.outgoing.unsent == unsent
        assert sending.done() is not waits
        await streams.read_bytes(unsent)
        await sending


@pytest.mark.parametrize(("unsent", "waits"), [(4_194_304, False), (4_194_305, True)])
async def test_stdio_server_reads_no_requests_above_four_mebibytes_unsent_output(
    unsent: int, waits: bool
) -> None:
    async with open_streams(open_pipe) as streams:
        streams.outgoing.write(b"x" * unsent)
        streams.request(1)
        receiving = asyncio.create_task(streams.incoming.receive())
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(receiving), 0.05 if waits else 30)
        assert receiving.done() is not waits
        assert streams.outgoing.unanswered_ids == (set() if waits else {1})
        await streams.read_bytes(unsent)
        assert isinstance((await receiving).message, JSONRPCRequest)


async def test_stdio_close_waits_five_seconds_for_the_client_to_read_the_last_answers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    timeout, limits = asyncio.timeout, list[float]()

    def shorter(seconds: float) -> asyncio.Timeout:
        limits.append(seconds)
        return timeout(0.01)

    async with open_streams(open_pipe) as streams:
        streams.outgoing.write(b"x" * 500_000)
        monkeypatch.setattr(asyncio, "timeout", shorter)
        await streams.outgoing.aclose()
        monkeypatch.undo()
        await streams.read_bytes(500_000)
    assert limits == [5.0]
    assert "the client did not read the last responses" in caplog.text


async def test_stdio_server_reads_no_invalid_lines_while_errors_are_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Clients may send invalid lines without end and not read the errors."""
    monkeypatch.setattr(streams_module, "MAX_UNSENT_BYTES", 100_000)
    async with open_streams(open_sockets) as streams:
        receiving = asyncio.create_task(streams.incoming.receive())
        os.set_blocking(streams.client_write, False)
        sent, blocked = 0, 0
        while blocked < 20:
            try:
                sent += os.write(streams.client_write, b"x\n" * 10_000)
                blocked = 0
            except BlockingIOError:
                blocked += 1
            await asyncio.sleep(0.01)
            assert sent < 1_000_000
        assert not receiving.done()
        receiving.cancel()


async def test_stdio_reading_stops_if_the_mcp_session_receives_no_request() -> None:
    """Requests that were sent are received later in order."""
    async with open_streams(open_sockets) as streams:
        os.set_blocking(streams.client_write, False)
        sent, blocked = 0, 0
        while blocked < 20:
            try:
                streams.request(sent)
                sent += 1
                blocked = 0
            except BlockingIOError:
                blocked += 1
                await asyncio.sleep(0.01)
            assert sent < 100_000
        async with asyncio.timeout(30):
            for number in range(sent):
                received = await streams.incoming.receive()
                assert isinstance(received.message, JSONRPCRequest)
                assert received.message.id == number


async def count_read_requests(streams: Streams) -> int:
    """Send requests until they stay unread, and return how many were read."""
    for number in range(100):
        streams.request(number)
        for _ in range(50):
            if not select.select([streams.source], [], [], 0)[0]:
                break
            await asyncio.sleep(0.01)
        else:
            return number
    return 100


async def test_stdio_session_reads_two_requests_ahead_after_idle_time() -> None:
    """New and idle sessions read equally many requests before `receive`."""
    async with open_streams(open_pipe) as new, open_streams(open_pipe) as idle:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await idle.incoming.receive()
        assert await count_read_requests(idle) == await count_read_requests(new) == 2


async def test_stdio_streams_support_non_blocking_file_descriptors() -> None:
    """The parent process shares the descriptors and may have changed their mode."""
    async with open_streams(open_pipe) as streams:
        os.set_blocking(streams.source, False)
        os.set_blocking(streams.sink, False)
        streams.request(1)
        received = await streams.incoming.receive()
        assert isinstance(received.message, JSONRPCRequest)
        sending = asyncio.create_task(streams.answer(1, 300_000))
        assert len(await streams.read_bytes(300_000)) >= 300_000
        await sending
        streams.request(2)
        await streams.incoming.receive()


async def test_stdio_input_ends_only_after_every_request_is_answered() -> None:
    """The client has closed its end before the last answer."""
    async with open_streams(open_pipe) as streams:
        streams.request(1)
        os.close(streams.client_write)
        await streams.incoming.receive()
        end = asyncio.create_task(streams.incoming.receive())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not end.done()
        await streams.answer(1)
        with pytest.raises(anyio.EndOfStream):
            await end
        assert [message async for message in streams.incoming] == []


async def test_server_request_to_a_closed_stdio_client_gets_an_error() -> None:
    """The server must not wait for an answer that cannot arrive."""
    async with open_streams(open_pipe) as streams:
        streams.request(1)
        os.write(streams.client_write, b'{"jsonrpc": "2.0", "id": 8, "result": {}}\n')
        for number in (7, 8):
            request = JSONRPCRequest(jsonrpc="2.0", id=number, method="ping")
            await streams.outgoing.send(SessionMessage(request))
        os.close(streams.client_write)
        async with asyncio.timeout(1.5):
            messages = [(await streams.incoming.receive()).message for _ in range(3)]
            error = messages[2]
            assert isinstance(error, JSONRPCError) and error.id == 7
            assert error.error.message == "the client closed the connection"
            await streams.answer(1)
            with pytest.raises(anyio.EndOfStream):
                await streams.incoming.receive()


async def test_stdio_input_ends_without_an_answer_to_a_cancelled_request() -> None:
    async with open_streams(open_pipe) as streams, asyncio.timeout(1.5):
        for number in (1, 2):
            streams.request(number)
        for line in (
            b'"method": "notifications/cancelled", "params": {"requestId": "1"}',
            b'"method": "notifications/progress", "params": {"requestId": 2}',
        ):
            os.write(streams.client_write, b'{"jsonrpc": "2.0", ' + line + b"}\n")
        os.close(streams.client_write)
        kinds = [type((await streams.incoming.receive()).message) for _ in range(4)]
        assert kinds == [JSONRPCRequest] * 2 + [JSONRPCNotification] * 2
        assert streams.outgoing.unanswered_ids == {2}
        await streams.answer(2)
        with pytest.raises(anyio.EndOfStream):
            await streams.incoming.receive()


async def test_stopped_stdio_server_waits_for_answers_if_its_input_was_open() -> None:
    """After the end of the input, it does not wait."""
    for has_ended in (False, True):
        async with open_streams(open_pipe) as streams, asyncio.timeout(1.5):
            streams.request(1)
            await streams.incoming.receive()
            if has_ended:
                os.close(streams.client_write)
            end = asyncio.create_task(streams.incoming.receive())
            for _ in range(20):
                await asyncio.sleep(0)
            streams.incoming.stop()
            for _ in range(20):
                await asyncio.sleep(0)
            assert end.done() is has_ended
            await streams.answer(1)
            with pytest.raises(anyio.EndOfStream):
                await end


@pytest.mark.parametrize(("grace", "is_stopped"), [(0, False), (60, True)])
async def test_stdio_server_logs_the_cancelled_calls_when_the_grace_period_ends(
    caplog: pytest.LogCaptureFixture, grace: float, is_stopped: bool
) -> None:
    """`stop_waiting` ends it early; nothing is logged if the client has disconnected."""
    read, sink = open_pipe()
    outgoing = OutgoingMessages(sink, grace)
    outgoing.unanswered_ids.add(1)
    if is_stopped:
        asyncio.get_running_loop().call_soon(outgoing.stop_waiting)
    async with asyncio.timeout(30):
        assert await outgoing.wait_for_responses() is None
    assert [record.getMessage() for record in caplog.records] == [
        "shutting down: cancelling 1 calls"
    ]
    outgoing.close()
    assert await outgoing.wait_for_responses() is None
    assert len(caplog.records) == 1
    os.close(read)
    os.close(sink)


async def test_stdio_client_that_no_longer_reads_output_ends_the_input() -> None:
    """The next send raises `BrokenResourceError`."""
    async with open_streams(open_pipe) as streams:
        os.close(streams.client_read)
        await streams.answer(1)
        with pytest.raises(anyio.EndOfStream):
            await streams.incoming.receive()
        with pytest.raises(anyio.BrokenResourceError):
            await streams.answer(2)


async def test_stdio_close_sends_buffered_output_first() -> None:
    async with open_streams(open_pipe) as streams:
        streams.outgoing.write(b"x" * 500_000)
        closing = asyncio.create_task(streams.outgoing.aclose())
        assert len(await streams.read_bytes(500_000)) == 500_000
        async with asyncio.timeout(30):
            await closing


PERSONALITY = {"name": "get_personality", "arguments": {}}
INITIALIZE = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT}


def encode_line(method: str, params: Any = None, number: int | None = None) -> bytes:
    """Return the line of a request, or of a notification without a number."""
    value = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return (
        json.dumps({k: v for k, v in value.items() if v is not None}).encode() + b"\n"
    )


async def run_session(data: bytes) -> list[dict[str, Any]]:
    """Run a session with this input and return its answers sorted by id."""
    (source, client_write), (client_read, sink) = os.pipe(), os.pipe()
    outgoing = OutgoingMessages(sink, 2)
    incoming = IncomingMessages(source, outgoing)
    os.write(client_write, data)
    os.close(client_write)
    server = build_server(SERVER, "internal", takes_raw_json=True)
    options = server.create_initialization_options()
    await server.run(incoming, outgoing, options)
    for number in (source, sink):
        os.close(number)
    with os.fdopen(client_read, "rb") as lines:
        answers = [json.loads(line) for line in lines]
    return sorted(answers, key=lambda answer: str(answer["id"]))


CONVERSATIONS = {
    "handshake": (
        encode_line("initialize", INITIALIZE, 0)
        + encode_line("notifications/initialized")
        + encode_line("tools/call", PERSONALITY, 1)
        + encode_line("tools/call", {"name": "ghost"}, 2)
        + encode_line("tools/call", {**PERSONALITY, "_meta": meta()}, 3)
        + encode_line("prompts/list", {}, 4)
    ),
    "no handshake": (
        encode_line("tools/call", {**PERSONALITY, "_meta": meta()}, 1)
        + encode_line("initialize", INITIALIZE, 2)
        + encode_line("tools/call", PERSONALITY, 3)
        + encode_line("server/discover", {"_meta": meta()}, 4)
    ),
    "only notifications": encode_line("notifications/initialized") * 3,
    "request before the handshake": (
        encode_line("notifications/initialized") * 9
        + encode_line("tools/call", PERSONALITY, 1)
        + encode_line("initialize", INITIALIZE, 2)
    ),
}


@pytest.mark.parametrize("data", CONVERSATIONS.values(), ids=CONVERSATIONS.keys())
async def test_each_request_of_a_stdio_session_is_answered_once(data: bytes) -> None:
    ids = [answer["id"] for answer in await run_session(data)]
    assert ids == sorted(ids)
    assert len(ids) == len(set(ids)) == data.count(b'"id"')
