"""A server at a URL: through the registry, with a token, and when it goes away."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest

from generated.kirishima import registry
from tests.external.conftest import Open, call, until
from tests.external.servers.running import HttpServer
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external import transports
from toolcast_runtime.external.sdk_logging import (
    IS_SDK_LOG_SUPPRESSED,
    suppress_sdk_logs,
)

TOKEN = "hunter2-hunter2"
Personal = Callable[..., HttpServer]


@pytest.fixture(autouse=True)
async def unconnected() -> AsyncIterator[None]:
    """Another test of the process may have found that there is no server."""
    await registry.REGISTRY.close()
    yield
    await registry.REGISTRY.close()


@pytest.fixture(scope="module")
def personal() -> Iterator[HttpServer]:
    server = HttpServer.started("--token", TOKEN)
    yield server
    server.end()


@pytest.fixture
def kirishima(personal: HttpServer, monkeypatch: pytest.MonkeyPatch) -> HttpServer:
    """The server that kirishima's toolset names, for the registry's one connection."""
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_URL", personal.url)
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_TOKEN", TOKEN)
    return personal


async def test_external_tools_stand_beside_the_own_ones(kirishima: HttpServer) -> None:
    internal = [tool["name"] for tool in await registry.get_mcp_tools("internal")]
    assert internal[-4:] == ["calendar", "contacts", "email", "lists"]
    external = [tool["name"] for tool in await registry.get_mcp_tools("external")]
    assert external == ["memory", "calendar", "contacts"]
    copilot = [tool["name"] for tool in await registry.get_mcp_tools("copilot")]
    assert copilot == ["get_personality", "github_issue"]


async def test_the_catalog_has_them_and_no_always_list_does(
    kirishima: HttpServer,
) -> None:
    catalog = await registry.get_routed_tools_catalog("internal")
    assert {"calendar", "contacts", "email", "lists"} <= catalog.keys()
    always = await registry.get_always_tools("internal")
    names = {tool["function"]["name"] for tool in always}
    assert names == {"get_personality", "manage_prompt", "memory"}


async def test_own_and_external_tools_are_called_alike(kirishima: HttpServer) -> None:
    made = await registry.call_tool(
        "lists", {"action": "create_list", "title": "Shopping"}, "internal"
    )
    assert made.result["created"]["title"] == "Shopping"
    own = await registry.call_tool("get_personality", {}, "internal")
    assert own.success


@pytest.mark.parametrize(
    ("tool", "client"),
    [("email", "external"), ("lists", "external"), ("calendar", "copilot")],
)
async def test_a_client_gets_no_external_tool_that_is_not_its_own(
    tool: str, client: str, kirishima: HttpServer
) -> None:
    answer = await registry.call_tool(tool, {"action": "list_lists"}, client)
    assert answer.error == f"unknown tool `{tool}`"


async def test_nothing_is_connected_for_a_tool_that_is_not_there() -> None:
    answer = await registry.call_tool("no_such_tool", {}, "internal")
    assert answer.error == "unknown tool `no_such_tool`"
    assert registry.EXTERNAL_TOOLS._connections == {}


async def test_the_always_list_waits_for_nobody() -> None:
    assert len(await registry.get_always_tools("internal")) == 3
    assert registry.EXTERNAL_TOOLS._connections == {}


async def test_own_tools_answer_while_the_server_is_down(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_URL", "http://127.0.0.1:9/mcp")
    names = [tool["name"] for tool in await registry.get_mcp_tools("external")]
    assert names == ["memory"]
    assert "external server personal: not connected: ConnectError" in caplog.text
    await registry.REGISTRY.close()


@pytest.mark.slow
async def test_a_server_that_went_away_comes_back(
    opened: Open, personal_http: Personal
) -> None:
    server = personal_http()
    tools = opened(ExternalServer("personal", url=server.url))
    assert (await call(tools, "lists", action="list_lists")).success
    server.end()
    assert not (await call(tools, "lists", action="list_lists")).success
    server.start()
    for _ in range(200):
        if await tools.find_tool("lists") is not None:
            break
        await asyncio.sleep(0.1)
    assert (await call(tools, "lists", action="list_lists")).success


async def test_without_the_token_nothing_is_offered(
    opened: Open, personal: HttpServer, caplog: pytest.LogCaptureFixture
) -> None:
    tools = opened(ExternalServer("personal", url=personal.url))
    assert await tools.list_tools() == ()
    assert (
        "external server personal: not connected: HTTP 401 Unauthorized" in caplog.text
    )


@pytest.mark.slow
async def test_a_secret_in_the_address_reaches_no_log(
    opened: Open,
    personal_http: Personal,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    server = personal_http("--token", TOKEN)
    monkeypatch.setenv("PERSONAL_TOKEN", TOKEN)
    headers = {"Authorization": "Bearer ${PERSONAL_TOKEN}"}
    address = f"{server.url}?key=${{PERSONAL_TOKEN}}"
    tools = opened(ExternalServer("personal", url=address, headers=headers))
    assert (await call(tools, "lists", action="list_lists")).success
    server.end()
    await call(tools, "lists", action="list_lists")
    await until(lambda: "not connected" in caplog.text)
    assert TOKEN not in caplog.text


async def test_the_sdk_is_silenced_where_it_serves_us_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def speak(words: str) -> None:
        logging.getLogger("mcp.client.stdio").warning(words)

    async def ours() -> None:
        IS_SDK_LOG_SUPPRESSED.set(True)
        await asyncio.gather(asyncio.to_thread(speak, "in a thread of ours"))
        speak("in ours")

    suppress_sdk_logs()
    await asyncio.create_task(ours())
    speak("in another")
    assert [record.message for record in caplog.records] == ["in another"]


class Answers(BaseHTTPRequestHandler):
    """What no MCP server answers."""

    kind, body, packed = "text/html", b"<h1>It works!</h1>", ""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", self.kind)
        if self.packed:
            self.send_header("content-encoding", self.packed)
        self.end_headers()
        try:
            self.wfile.write(self.body)
            while self.kind == "application/json" and self.body[:1] == b" ":
                self.wfile.write(b" " * 1_000_000)
        except OSError:
            return

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps the test's output clean."""


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"kind": "application/json", "body": b"{}"},
        {"kind": "application/json", "body": b" "},
        {"kind": "application/json", "body": b"[" * 100_000},
        {"kind": "application/json", "body": b"\x1f\x8b", "packed": "gzip"},
        {"kind": "text/event-stream", "body": b"data: " + b"x" * 20_000_000},
        {"kind": "text/event-stream", "body": b"data: \x1b[2J\n\n"},
    ],
    ids=["html", "no-rpc", "endless", "deep", "packed", "long-event", "no-event"],
)
async def test_an_address_where_something_else_answers(
    given: dict[str, Any], opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    handler = type("Given", (Answers,), given)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listener:
        Thread(target=listener.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{listener.server_port}/mcp"
        tools = opened(ExternalServer("odd", url=url, connect_timeout=20.0))
        assert await tools.list_tools() == ()
        await tools.close()
        listener.shutdown()
    assert "external server odd: not connected: " in caplog.text
    assert "\x1b" not in caplog.text and "Traceback" not in caplog.text


class Slow(BaseHTTPRequestHandler):
    """A server of the older era whose tool `wait` answers when it is let."""

    protocol_version = "HTTP/1.1"
    answers = Event()

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message:
            return self._sent(202, b"")
        said: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "initialize":
            info = {"name": "slow", "version": "1"}
            version = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            said["result"] = {**version, "serverInfo": info}
        elif message["method"] == "tools/list":
            names = ("wait", "echo")
            listed = [{"name": n, "inputSchema": {"type": "object"}} for n in names]
            said["result"] = {"tools": listed}
        elif message["method"] == "tools/call":
            if message["params"]["name"] == "wait":
                self.answers.wait(20)
            said["result"] = {"content": [{"type": "text", "text": "there"}]}
        else:
            said["error"] = {"code": -32601, "message": "no such method"}
        return self._sent(200, json.dumps(said).encode())

    def _sent(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._sent(405, b"")

    do_DELETE = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps the test's output clean."""


@pytest.mark.slow
async def test_calls_beyond_the_connections_fail_alone(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All calls that ran were lost with the one that found no connection."""
    monkeypatch.setattr(transports, "_MAX_CONNECTIONS", 3)
    monkeypatch.setattr(transports, "_CONNECT_TIMEOUT_S", 0.5)
    Slow.answers.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as listener:
        Thread(target=listener.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{listener.server_port}/mcp"
        tools = opened(ExternalServer("slow", url=url, connect_timeout=20.0))
        await tools.list_tools()
        calls = [asyncio.create_task(call(tools, "wait")) for _ in range(3)]
        await asyncio.sleep(0.3)
        answer = await call(tools, "echo")
        assert answer.error and "all 3 connections are in use" in answer.error
        Slow.answers.set()
        assert [each.result for each in await asyncio.gather(*calls)] == ["there"] * 3
        assert (await call(tools, "echo")).result == "there"
        await tools.close()
        listener.shutdown()
