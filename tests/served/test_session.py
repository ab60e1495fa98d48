"""SDK session over the runtime's stdio streams: each request has exactly one answer."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from tests.mcp.servers import CLIENT, LEGACY, meta
from toolcast_runtime.mcp.sdk_server import build_server
from toolcast_runtime.stdio.streams import IncomingMessages, OutgoingMessages

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
