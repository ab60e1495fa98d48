"""Serves a toolset's registry over MCP with the official SDK's low-level server.

Needs `mcp` 2.x. Source: https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..calls.tracing import when_traced
from ..registry.registry import Registry, UnknownToolError
from .gc_freeze import lasting
from .json_lines import RawJson
from .results import call_result, failure, sendable

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server import Server, ServerRequestContext
    from mcp.server.context import CallNext, HandlerResult
    from starlette.applications import Starlette

    from ..http.admin import AdminRoute
    from ..http.settings import HttpSettings
    from ..registry.tool import Tool
    from ..registry.tool_list import ListedTool

__all__ = ["McpServer", "serve_over_stdio"]

_logger = logging.getLogger("toolcast")

_HEADER_KEY = "x-mcp-header"
"""Marks a parameter that callers over HTTP repeat in a header.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""


@dataclass(frozen=True)
class McpServer:
    """What one MCP server serves.

    Attributes:
        registry: looks tools up and calls them.
        tools: the tools that this server may show, in their order.
        name: serverInfo's name.
        title: serverInfo's title.
        version: serverInfo's version.
        instructions: how to use the server as a whole.
        client: the client that is served when none is asked for; None in a toolset
            without clients.
        http: where and how each client is served over HTTP.
        admin_routes: paths for administrators, besides the list of tools.
        offers_sources: shows and calls the tools of the registry's sources, too.
        started: what runs beside the requests once the HTTP server has begun.
        guard: says of a call over HTTP, by the tool's name and the request's headers in
            lower case, why it is refused; None when it is not.
    """

    registry: Registry
    tools: tuple[str, ...]
    name: str
    title: str | None = None
    version: str = "0.0.0"
    instructions: str | None = None
    client: str | None = None
    http: HttpSettings | None = None
    admin_routes: tuple[AdminRoute, ...] = ()
    offers_sources: bool = False
    started: tuple[Callable[[], Awaitable[None]], ...] = ()
    guard: Callable[[str, Mapping[str, str]], str | None] | None = None

    @cached_property
    def _tools(self) -> frozenset[str]:
        return frozenset(self.tools)

    def names(self, client: str | None) -> tuple[str, ...]:
        """The tools that a client gets, in their order.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
        """
        offered = frozenset(self.registry.names(client))
        return tuple(name for name in self.tools if name in offered)

    def list_tools(self, client: str | None) -> list[Mapping[str, Any]]:
        """The client's `tools/list`."""
        show = self.registry.listed_tool
        return [show(name, client).definition for name in self.names(client)]

    async def offered(self, client: str | None) -> list[ListedTool | Tool]:
        """The tools that a client is offered here, the toolset's own before the sources'.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        show = self.registry.listed_tool
        own = [show(name, client) for name in self.names(client)]
        return [*own, *await self._source_tools(client)]

    async def _source_tools(self, client: str | None) -> list[Tool]:
        if not self.offers_sources:
            return []
        return await self.registry.source_tools(client)

    async def _find(self, name: str, client: str | None) -> ListedTool | Tool | None:
        """A tool that a client is offered here; None when it is not."""
        present = self.registry.resolve(name)
        # Every call comes here: it may cost one look-up, not one for each tool.
        if present in self._tools:
            try:
                return self.registry.listed_tool(present, client)
            except UnknownToolError:
                return None
        if not self.offers_sources or self.registry.is_own(present):
            return None
        try:
            return await self.registry.find_tool(present, client)
        except LookupError:
            return None

    def build(
        self, client: str | None = None, *, takes_raw_json: bool = False
    ) -> Server[Any]:
        """The SDK's server for one client.

        What keeps it fast on every transport: a list comes from what was prepared at
        generation, behind the SDK's models; `get_tool_input_schema` is given, without which
        each HTTP call would list all tools; and a tool's module, its handler and its
        validator come at its first call.

        Args:
            client: who is served.
            takes_raw_json: the transport writes `RawJson` as it is, so that a list is
                sent without one object being built for it.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
        """
        import mcp_types as types
        from mcp.server import Server
        from mcp.shared.exceptions import MCPError
        from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

        who = self.client if client is None else client
        # Said now, and not to the first caller, when it cannot be found out.
        self.names(who)
        shown: tuple[tuple[str, ...], Any] = ((), [])

        async def list_tools(
            context: ServerRequestContext[Any, Any],
            params: types.PaginatedRequestParams | None,
        ) -> types.ListToolsResult:
            if params is not None and params.cursor is not None:
                raise MCPError(
                    types.INVALID_PARAMS, "Invalid cursor: there is one page"
                )
            # The middleware below puts the tools in, exactly as the specs have them.
            return types.ListToolsResult(tools=[])

        async def call_tool(
            context: ServerRequestContext[Any, Any],
            params: types.CallToolRequestParams,
        ) -> types.CallToolResult:
            tool = await self._find(params.name, who)
            if tool is None:
                unknown = f"Unknown tool: {params.name}"
                raise MCPError(types.INVALID_PARAMS, sendable(unknown))
            try:
                if self.guard is not None and context.request is not None:
                    refusal = self.guard(tool.name, context.request.headers)
                    if refusal is not None:
                        return failure(refusal)
                response = await self.registry.call_tool(
                    params.name,
                    params.arguments,
                    who,
                    report_progress=context.session.report_progress,
                )
                is_modern = context.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS
                return call_result(
                    response,
                    # Until 2025-11-25 it can only be an object.
                    structured="outputSchema" in tool.definition
                    and (is_modern or isinstance(response.result, dict)),
                )
            except Exception:
                # What gets out of here reaches legacy clients with its text.
                _logger.exception("the answer of %s cannot be sent", params.name)
                return failure("the answer cannot be sent; the server's log says why")

        plain: set[str] = set()

        def input_schema(name: str) -> Mapping[str, Any] | None:
            """The schema that a call's headers are compared with; None compares none."""
            # Every call over HTTP comes here: one look-up, and no walk through a schema
            # that asks for no header.
            present = self.registry.resolve(name)
            if present in plain or present not in self._tools:
                return None
            try:
                schema = self.registry.listed_tool(present, who).parameters
            except UnknownToolError:
                return None
            if _HEADER_KEY not in json.dumps(schema):
                plain.add(present)
                return None
            return schema

        server: Server[Any] = Server(
            self.name,
            title=self.title,
            version=self.version,
            instructions=self.instructions,
            on_list_tools=list_tools,
            on_call_tool=call_tool,
            get_tool_input_schema=input_schema,
        )

        async def exact_tools(
            ctx: ServerRequestContext[Any, Any], call_next: CallNext
        ) -> HandlerResult:
            """Puts the tools into the SDK's answer behind its models.

            The models drop unknown keys and nulls, change the order of keys, and refuse
            the whole list for one tool.
            """
            nonlocal shown
            result = await call_next(ctx)
            if ctx.method != "tools/list" or not isinstance(result, dict):
                return result
            present = self.names(who)
            if present != shown[0]:
                prepared = self.registry.prepared
                tools = (
                    RawJson(prepared.tools_json(present))
                    if takes_raw_json
                    else [prepared.tool(name).definition for name in present]
                )
                shown = (present, tools)
            further = [tool.definition for tool in await self._source_tools(who)]
            return {**result, "tools": _with(shown[1], further)}

        server.middleware[:] = [when_traced(each) for each in server.middleware]
        server.middleware.append(exact_tools)
        return server

    def http_app(self, client: str | None = None, path: str = "/mcp") -> Starlette:
        """An ASGI application that serves one client at a path, without sessions.

        It listens for requests to loopback names only.
        """
        return self.build(client).streamable_http_app(
            streamable_http_path=path, stateless_http=True, host="127.0.0.1"
        )


def _with(own: Any, further: list[Mapping[str, Any]]) -> Any:
    """A list of tools and further ones, as JSON text where the list is."""
    if not further:
        return own
    if not isinstance(own, RawJson):
        return [*own, *further]
    text = json.dumps(further, ensure_ascii=False).encode("utf-8")
    return RawJson(text if own.text == b"[]" else own.text[:-1] + b"," + text[1:])


def serve_over_stdio(server: McpServer, client: str | None) -> None:
    """Serves one client over standard input and output until the input ends."""
    import asyncio

    with lasting():
        import mcp.server  # noqa: F401 - what follows would import it piece by piece

        from .stdio import serve_stdio
    try:
        asyncio.run(
            serve_stdio(lambda is_lean: server.build(client, takes_raw_json=is_lean))
        )
    except KeyboardInterrupt:
        # Ctrl-C is how a person ends it; a traceback would look like a failure.
        sys.exit(130)
