"""An MCP server whose tools tests change: over streamable HTTP, or in this process."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from letta.tests.fake_letta import UnreachableError

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from starlette.types import Receive, Scope, Send

__all__ = ["Call", "ChangingMcp", "changing_mcp", "tool"]

Answer = Callable[[Mapping[str, Any]], Any]


def tool(name: str, description: str = "", **properties: Any) -> dict[str, Any]:
    """Return a tool of `tools/list` whose properties are all required."""
    return {
        "name": name,
        "description": description or f"Does {name}.",
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        },
    }


@dataclass(frozen=True)
class Call:
    """A received `tools/call`, with the lower-case headers of its request."""

    name: str
    arguments: Mapping[str, Any]
    headers: Mapping[str, str]


@dataclass
class ChangingMcp:
    """The current tools and answers of the server, and its received requests.

    A fake Letta server calls its methods if `world.servers` has it, without HTTP.

    Attributes:
        url: the server's URL.
        tools: the exact content of `tools/list`.
        answers: functions that return a tool's result; by default, a tool returns its
            arguments.
        page: the page size; None for one page.
        is_down: whether requests are answered with 503.
        calls: all received calls.
        headers: the lower-case headers of every request.
    """

    url: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    answers: dict[str, Answer] = field(default_factory=dict)
    page: int | None = None
    is_down: bool = False
    calls: list[Call] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)

    def list_calls(self, name: str) -> list[Call]:
        """Return the calls of a tool."""
        return [call for call in self.calls if call.name == name]

    def list_tools(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the first page."""
        self._receive(headers)
        tools: list[dict[str, Any]] = json.loads(json.dumps(self.tools[: self.page]))
        return tools

    def call(
        self, name: str, arguments: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[str, bool]:
        """Record a call; return its text and whether it succeeded."""
        self.calls.append(Call(name, arguments, self._receive(headers)))
        return self.run(name, arguments)

    def run(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        """Return the text of a tool's result and whether it succeeded."""
        try:
            result = self.answers.get(name, dict)(arguments)
        except Exception as error:
            return str(error), False
        return result if isinstance(result, str) else json.dumps(result), True

    def _receive(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        self.headers.append({key.lower(): value for key, value in headers.items()})
        if self.is_down:
            raise UnreachableError("Server error '503 Service Unavailable'")
        return self.headers[-1]


@contextmanager
def changing_mcp(*tools: Mapping[str, Any]) -> Iterator[ChangingMcp]:
    """Start the server on a free loopback port, in a thread."""
    import uvicorn

    world = ChangingMcp(tools=tools)
    config = uvicorn.Config(
        _application(world), host="127.0.0.1", port=0, log_level="error"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the MCP server did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    world.url = f"http://127.0.0.1:{port}/mcp"
    try:
        yield world
    finally:
        server.should_exit = True
        thread.join(10)


def _application(world: ChangingMcp) -> Callable[..., Any]:
    import mcp_types as types
    from mcp.server import Server

    async def list_tools(
        context: ServerRequestContext[Any, Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[])

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        arguments = params.arguments or {}
        headers = dict(context.request.headers) if context.request else {}
        world.calls.append(Call(params.name, arguments, headers))
        text, succeeded = world.run(params.name, arguments)
        block = types.TextContent(type="text", text=text)
        return types.CallToolResult(content=[block], is_error=not succeeded)

    server: Server[Any] = Server(
        "changing", on_list_tools=list_tools, on_call_tool=call_tool
    )

    async def list_raw_tools(
        ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """Return the tools without the SDK's models, which would reject invalid ones."""
        result = await call_next(ctx)
        if ctx.method != "tools/list" or not isinstance(result, dict):
            return result
        if world.page is None:
            return {**result, "tools": list(world.tools)}
        start = int((ctx.params or {}).get("cursor") or 0)
        end = start + world.page
        more = {"nextCursor": str(end)} if end < len(world.tools) else {}
        return {**result, "tools": list(world.tools[start:end]), **more}

    server.middleware.append(list_raw_tools)
    application = server.streamable_http_app(stateless_http=True, host="127.0.0.1")

    async def record_headers(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            raw = scope["headers"]
            world.headers.append({k.decode().lower(): v.decode() for k, v in raw})
            if world.is_down:
                from starlette.responses import PlainTextResponse

                down = PlainTextResponse("down", status_code=503)
                await down(scope, receive, send)
                return
        await application(scope, receive, send)

    return record_headers
