"""The SDK's session straight over our streams: what it answers is the same, with less work."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from tests.mcp.servers import LEGACY, meta
from toolcast_runtime.mcp.sdk_server import build_server
from toolcast_runtime.stdio.streams import IncomingMessages, OutgoingMessages

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
    outgoing = OutgoingMessages(sink, 2)
    incoming = IncomingMessages(source, outgoing)
    os.write(ask, sent)
    os.close(ask)
    server = build_server(SERVER, "internal", takes_raw_json=True)
    options = server.create_initialization_options()
    await server.run(incoming, outgoing, options)
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
async def test_every_request_is_answered_once(sent: bytes) -> None:
    found = [answer["id"] for answer in await answers(sent)]
    assert found == sorted(found)
    assert len(found) == len(set(found)) == sent.count(b'"id"')
