"""Calls that go past the SDK's dispatch are answered, cancelled and ended as it would do it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any

import mcp_types as types
import pytest
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import JSONRPCRequest

from tests.mcp.servers import LEGACY
from toolcast_runtime.mcp.session import serve_session
from toolcast_runtime.mcp.stdio_calls import DirectCalls
from toolcast_runtime.mcp.stdio_reading import Incoming
from toolcast_runtime.mcp.stdio_writing import Outgoing

HELLO = {
    "protocolVersion": LEGACY,
    "capabilities": {},
    "clientInfo": {"name": "tests", "version": "1"},
}


class Tools:
    """A server's tools, some of them unkind."""

    def __init__(self) -> None:
        self.cancelled: list[str] = []

    async def call(self, context: Any, params: types.CallToolRequestParams) -> Any:
        text: Any = {"type": "text", "text": json.dumps(params.arguments)}
        match params.name:
            case "model":
                block = types.TextContent(type="text", text="caf\u00e9 \u2028")
                return types.CallToolResult(content=[block])
            case "mapping":
                return {"content": [text], "resultType": "complete", "more": 1}
            case "turns":
                await asyncio.sleep(0.01)
                return {"content": [text]}
            case "refuses":
                raise MCPError(types.INVALID_PARAMS, "no such tool", {"a": None})
            case "fails":
                raise RuntimeError("it broke")
            case "odd":
                return {"content": "no list"}
            case "hangs" | "goes on":
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    self.cancelled.append(params.name)
                    if params.name == "hangs":
                        raise
                return {"content": [text]}
        return {"content": [text], "isError": True}


class Client:
    """One end of a connection; it blocks."""

    def __init__(self, ask: int, read: int) -> None:
        self._ask = ask
        self._said = os.fdopen(read, "rb")

    def tell_all(self, messages: list[tuple[str, Any, Any]]) -> None:
        lines = []
        for method, params, number in messages:
            value = {"jsonrpc": "2.0", "method": method, "params": params, "id": number}
            sent = {key: each for key, each in value.items() if each is not None}
            lines.append(json.dumps(sent).encode() + b"\n")
        os.write(self._ask, b"".join(lines))

    def tell(self, method: str, params: Any = None, number: Any = None) -> None:
        self.tell_all([(method, params, number)])

    def heard(self) -> bytes:
        return self._said.readline()

    def ask(self, method: str, params: Any, number: Any) -> bytes:
        self.tell(method, params, number)
        return self.heard()

    def close(self) -> None:
        """Closes the side that asks."""
        os.close(self._ask)


async def conversation(
    talk: Callable[[Client], Any], tools: Tools, *, is_direct: bool = True
) -> Any:
    """What a client makes of a session; the call before is always the SDK's."""
    (source, ask), (read, sink) = os.pipe(), os.pipe()
    outgoing = Outgoing(sink)
    incoming = Incoming(source, outgoing)
    client = Client(ask, read)

    def talks() -> Any:
        client.ask("initialize", HELLO, 0)
        client.tell("notifications/initialized")
        client.ask("tools/call", {"name": "mapping"}, 0)
        if not is_direct:
            incoming.direct = None
        return talk(client)

    server: Server[Any] = Server("tools", on_call_tool=tools.call)
    serving = asyncio.create_task(serve_session(server, incoming, outgoing))
    said = await asyncio.to_thread(talks)
    await serving
    for number in (source, sink):
        os.close(number)
    return said


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The numbers of the requests that were taken from the SDK."""
    numbers: list[Any] = []
    take = DirectCalls.take

    def noted(self: DirectCalls, request: JSONRPCRequest) -> bool:
        if taken := take(self, request):
            numbers.append(request.id)
        return taken

    monkeypatch.setattr(DirectCalls, "take", noted)
    return numbers


CALLS: list[tuple[str, Any]] = [
    ("tools/call", {"name": "model"}),
    ("tools/call", {"name": "mapping", "arguments": {"a": [1.0, None, "\u00e9"]}}),
    ("tools/call", {"name": "turns", "arguments": {"b": 10**30}}),
    ("tools/call", {"name": "refuses"}),
    ("tools/call", {"name": "fails", "arguments": None}),
    ("tools/call", {"name": "odd", "arguments": {}}),
    ("tools/call", {"name": "else", "arguments": {"a": {"name": 1}}}),
    ("tools/call", {"name": 5}),
    ("tools/call", {"name": "model", "arguments": [1]}),
    ("tools/call", {"name": "model", "arguments": {}, "more": 1}),
    ("tools/call", {"name": "model", "_meta": {"progressToken": 3}}),
    ("tools/call", {"arguments": {}}),
    ("tools/call", {}),
    ("tools/call", None),
    ("tools/call", {"name": "x\ud800"}),
    ("tools/list", {}),
    ("ping", None),
]


async def test_every_answer_has_the_very_bytes_of_the_sdk(begun: list[Any]) -> None:
    numbers = [1, "1", "seven", -3, 10**20]

    def talk(client: Client) -> list[bytes]:
        said = []
        for count, (method, params) in enumerate(CALLS):
            number = numbers[count % len(numbers)]
            said.append(client.ask(method, params, number))
        client.close()
        return said

    ours = await conversation(talk, Tools())
    assert len(begun) >= 7
    theirs = await conversation(talk, Tools(), is_direct=False)
    assert ours == theirs


@pytest.mark.parametrize("is_direct", [True, False])
@pytest.mark.parametrize("tool", ["hangs", "goes on"])
async def test_a_cancelled_call_ends_and_is_not_answered(
    tool: str, is_direct: bool
) -> None:
    tools = Tools()

    def talk(client: Client) -> bytes:
        client.tell("tools/call", {"name": tool}, 1)
        client.tell("notifications/cancelled", {"requestId": "1", "reason": "late"})
        said = client.ask("ping", None, 2)
        said += client.ask("tools/call", {"name": "model"}, 1)
        client.close()
        return said

    said = await conversation(talk, tools, is_direct=is_direct)
    assert [json.loads(each)["id"] for each in said.splitlines()] == [2, 1]
    assert tools.cancelled == [tool]


@pytest.mark.parametrize("is_direct", [True, False])
async def test_a_client_that_leaves_is_told_of_calls_that_it_gave_up(
    is_direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcast_runtime.mcp.stdio_reading._PATIENCE", 0.05)
    tools = Tools()

    def talk(client: Client) -> bytes:
        client.tell("tools/call", {"name": "hangs"}, 1)
        client.ask("ping", None, 2)
        client.close()
        return client.heard()

    said = json.loads(await conversation(talk, tools, is_direct=is_direct))
    assert (said["id"], said["error"]["message"]) == (1, "Connection closed")
    assert tools.cancelled == ["hangs"]


async def test_another_handshake_gives_all_calls_back_to_the_sdk(
    begun: list[Any],
) -> None:
    def talk(client: Client) -> None:
        client.ask("tools/call", {"name": "model"}, 1)
        client.ask("initialize", {**HELLO, "protocolVersion": "2024-11-05"}, 2)
        client.ask("tools/call", {"name": "model"}, 3)
        client.ask("tools/call", {"name": "model"}, 4)
        client.close()

    await conversation(talk, Tools())
    assert begun == [1]


async def test_a_traced_call_is_the_sdks(
    begun: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcast_runtime.mcp.stdio_calls.is_traced", lambda: True)

    def talk(client: Client) -> None:
        client.ask("tools/call", {"name": "model"}, 1)
        client.close()

    await conversation(talk, Tools())
    assert begun == []


async def test_calls_in_a_row_let_others_have_their_turn(begun: list[Any]) -> None:
    def talk(client: Client) -> list[int]:
        client.tell_all([("tools/call", {"name": "model"}, n) for n in range(200)])
        said = [json.loads(client.heard())["id"] for _ in range(200)]
        client.close()
        return said

    said = await conversation(talk, Tools())
    assert sorted(said) == list(range(200))
    assert 32 <= len(begun) < 200
