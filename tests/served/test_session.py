"""The SDK's session straight over our streams: what it answers is the same, with less work."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from typing import Any

import pytest
from mcp_types import JSONRPCNotification, JSONRPCRequest, jsonrpc_message_adapter

from generated.kirishima.mcp_server import SERVER
from tests.mcp.servers import LEGACY, MODERN, meta
from toolcast_runtime.mcp import session as mcp_session
from toolcast_runtime.mcp.sdk_server import build_server
from toolcast_runtime.mcp.session import is_direct, serve_session
from toolcast_runtime.mcp.stdio_reading import Incoming, _message
from toolcast_runtime.mcp.stdio_writing import Outgoing

PERSONALITY = {"name": "get_personality", "arguments": {}}
HELLO = {
    "protocolVersion": LEGACY,
    "capabilities": {},
    "clientInfo": {"name": "tests", "version": "1"},
}


def line(method: str, params: Any = None, number: int | None = None) -> bytes:
    value: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    value |= {} if number is None else {"id": number}
    value |= {} if params is None else {"params": params}
    return json.dumps(value).encode() + b"\n"


async def answers(sent: bytes) -> list[dict[str, Any]]:
    """What a server answers to a client that says all this and leaves."""
    (source, ask), (read, sink) = os.pipe(), os.pipe()
    outgoing = Outgoing(sink)
    incoming = Incoming(source, outgoing)
    os.write(ask, sent)
    os.close(ask)
    server = build_server(SERVER, "internal", takes_raw_json=True)
    await serve_session(server, incoming, outgoing)
    for number in (source, sink):
        os.close(number)
    with os.fdopen(read, "rb") as said:
        found = [json.loads(each) for each in said]
    return sorted(found, key=lambda answer: str(answer["id"]))


CONVERSATIONS = {
    "with a handshake": (
        line("initialize", HELLO, 0)
        + line("notifications/initialized")
        + line("tools/call", PERSONALITY, 1)
        + line("tools/call", {"name": "ghost"}, 2)
        + line("tools/call", {**PERSONALITY, "_meta": meta()}, 3)
        + line("prompts/list", {}, 4)
    ),
    "without one": (
        line("tools/call", {**PERSONALITY, "_meta": meta()}, 1)
        + line("initialize", HELLO, 2)
        + line("tools/call", PERSONALITY, 3)
        + line("server/discover", {"_meta": meta()}, 4)
    ),
    "with nothing but notifications": line("notifications/initialized") * 3,
    "with a request before the handshake": (
        line("notifications/initialized") * 9
        + line("tools/call", PERSONALITY, 1)
        + line("initialize", HELLO, 2)
    ),
}


@pytest.mark.parametrize("sent", CONVERSATIONS.values(), ids=CONVERSATIONS.keys())
async def test_without_the_relay_the_same_is_answered(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = await answers(sent)
    monkeypatch.setattr(mcp_session, "is_direct", lambda: False)
    assert direct == await answers(sent)
    assert len(direct) == sent.count(b'"id"')


def test_the_installed_sdk_needs_no_relay() -> None:
    assert is_direct()


@pytest.mark.parametrize("era", [LEGACY, MODERN])
async def test_a_call_takes_few_turns_of_the_loop(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = 0
    loop = asyncio.get_running_loop()
    select = loop._selector.select  # type: ignore[attr-defined]

    def counted(timeout: float | None = None) -> Any:
        nonlocal turns
        turns += 1
        return select(timeout)

    monkeypatch.setattr(loop._selector, "select", counted)  # type: ignore[attr-defined]
    params = PERSONALITY if era == LEGACY else {**PERSONALITY, "_meta": meta()}
    begin = line("initialize", HELLO, 0) if era == LEGACY else b""

    async def turns_for(calls: int) -> int:
        before = turns
        await answers(begin + line("tools/call", params, 1) * calls)
        return turns - before

    few, many = await turns_for(1), await turns_for(41)
    assert (many - few) / 40 < 1


async def test_the_first_request_is_shown_and_still_given() -> None:
    (source, ask), (read, sink) = os.pipe(), os.pipe()
    incoming = Incoming(source, Outgoing(sink))
    said = [line(f"notifications/n{number}") for number in range(12)]
    os.write(ask, b"".join([*said, line("ping", None, 7), line("notifications/last")]))
    first = await incoming.first_request()
    assert first is not None and first.id == 7
    os.close(ask)
    given = [item.message async for item in incoming]
    methods = [
        message.method
        for message in given
        if isinstance(message, (JSONRPCRequest, JSONRPCNotification))
    ]
    # What the SDK keeps of what comes before the first request: eight.
    kept = [f"notifications/n{number}" for number in range(8)]
    assert methods == [*kept, "ping", "notifications/last"]
    for number in (source, read, sink):
        os.close(number)


async def test_spans_are_made_where_somebody_takes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from toolcast_runtime.calls import tracing

    made: list[str] = []

    async def spans(context: Any, call_next: Any) -> Any:
        made.append(context.method)
        return await call_next(context)

    class Context:
        method, meta = "tools/call", None

    async def answer(context: Any) -> str:
        return "answered"

    traced: Any = tracing.when_traced(spans)
    assert await traced(Context, answer) == "answered"
    assert made == []
    monkeypatch.setattr(tracing, "is_traced", lambda: True)
    assert await traced(Context, answer) == "answered"
    monkeypatch.setattr(tracing, "is_traced", lambda: False)
    Context.meta = {"traceparent": "00-1-2-01"}  # type: ignore[assignment]
    assert await traced(Context, answer) == "answered"
    assert made == ["tools/call"] * 2


def test_a_line_is_read_as_the_sdk_reads_it() -> None:
    parts = {
        "jsonrpc": [None, '"2.0"', '"1.0"', "null"],
        "id": [None, "1", "1.0", "true", "null", '"a"', "[]", "1e0", "9" * 30],
        "method": [None, '"ping"', '"r\\u0065sult"', "1", "null"],
        "params": [None, "{}", "null", "[]", '{"error":1}', '"x"'],
        "result": [None, "{}", "1"],
    }
    seen = 0
    for values in itertools.product(*parts.values()):
        said = zip(parts, values, strict=True)
        text = ",".join(f'"{key}":{value}' for key, value in said if value is not None)
        data = f"{{{text}}}".encode()
        try:
            expected = jsonrpc_message_adapter.validate_json(data, by_name=False)
        except ValueError:
            expected = None
        if isinstance(expected, JSONRPCNotification) and '"id"' in text:
            expected = None
        found = _message(data)
        assert type(found) is type(expected), data
        assert found == expected, data
        seen += expected is not None
    assert seen > 100
