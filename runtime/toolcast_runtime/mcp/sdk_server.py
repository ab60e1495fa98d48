"""The MCP SDK's low-level server for one client of a toolset.

Code for questions to the user, progress, lists of tools and spans is imported by the first request
that needs it, because most servers and requests do not.

Needs `mcp` 2.x. Source: https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from __future__ import annotations

import json
import logging
import sys
import time
from contextlib import asynccontextmanager
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from ..core import optional
from ..core.calls.call_telemetry import is_tracing_enabled, log_call
from ..core.context import CALL_GUARD, CALLER, REQUEST, Caller
from ..core.registry import UnknownToolError
from ..core.validation.protocol import has_object_root
from .client_request import McpRequest, set_log_level
from .results import (
    NULL_RESULT,
    answer_with_state,
    build_call_result,
    build_error_result,
    escape_surrogates,
    is_handshake_version,
    reject_cursor,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from mcp.server import ServerRequestContext
    from mcp.server.context import CallNext, HandlerResult

    from ..core.question import Answer, Question
    from ..skills import ServedSkills
    from ..telemetry.mcp_requests import ObservedRequests
    from .elicitation import Asker
    from .request_state import StateSealer
    from .toolset_server import ToolsetServer

_logger = logging.getLogger("toolcast")

CALLER_KEY = "toolcast.caller"
"""Key in an ASGI scope for the `Caller` that the request's token identifies."""

CALLED_KEY = "toolcast.called"
"""Key in an ASGI scope that is set if the request called a tool, which is logged as a call."""

_SESSION_HEADER = "mcp-session-id"
_TRACE_PARENT = "traceparent"
"""Key in a request's `_meta` for the trace context of the client's own span."""
_HEADER_ANNOTATION = "x-mcp-header"
"""The schema keyword of a parameter that clients over HTTP repeat in a header.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""


def build_server(
    toolset_server: ToolsetServer,
    client: str | None = None,
    *,
    takes_raw_json: bool = False,
    is_one_of_several: bool = False,
    client_confirms: bool = False,
) -> Server[Any]:
    """Return the SDK's server for one client; it imports a tool's handler at its first call.

    Args:
        toolset_server: the tools, resources and prompts to serve.
        client: the client to serve; None for the server's default client.
        takes_raw_json: whether the transport writes `RawJson` unchanged.
        is_one_of_several: whether other processes answer requests of the same client.
        client_confirms: whether the client's own program asks the user to confirm the call
            of a tool with `confirm`.

    Raises:
        SealingError: a tool must ask the user, but the server cannot with these settings.
        UnknownClientError: the toolset has clients, and `client` is not one of them.
        AccessError: the client's access cannot be resolved.
    """
    client = toolset_server.client if client is None else client
    # Fail at startup, not on the first request, if access cannot be resolved.
    toolset_server.names(client)

    @cache
    def get_sealer() -> StateSealer:
        from .request_state import make_sealer

        return make_sealer(toolset_server, client, is_one_of_several=is_one_of_several)

    if is_one_of_several or toolset_server.state_key_variable is not None:
        # Fail at startup, not at the first question, if the keys are invalid.
        get_sealer()

    handlers: dict[str, Any] = {}
    content_store = None
    # With several processes nothing is stored: another process could not read the content.
    if toolset_server.links is not None and not is_one_of_several:
        content_store = optional.content_blocks.ContentStore(
            toolset_server.name, toolset_server.links
        )

    @cache
    def get_skills() -> ServedSkills:
        return optional.skills.ServedSkills(partial(toolset_server.list_skills, client))

    if (
        toolset_server.has_resources_or_prompts
        or toolset_server.has_skills
        or content_store is not None
    ):
        from .resources_and_prompts import build_handlers

        handlers = build_handlers(
            toolset_server,
            client,
            get_sealer,
            content_store,
            get_skills if toolset_server.has_skills else None,
        )

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        started = time.perf_counter()
        if context.request is not None:
            context.request.scope[CALLED_KEY] = True
        is_found = False
        if toolset_server.search:
            from .tool_search import unwrap_search_call

            name, arguments, is_found = unwrap_search_call(
                params.name, params.arguments
            )
            params = params.model_copy(update={"name": name, "arguments": arguments})
        answer = partial(answer_call, context, params, is_found)
        result: types.CallToolResult | types.InputRequiredResult
        try:
            result = await answer_with_state(
                get_sealer, context, params.request_state, answer
            )
        except MCPError:
            # Do not log an unknown name: the client may send any text, even a secret.
            is_known = toolset_server.has_tool(
                toolset_server.registry.resolve(params.name)
            )
            tool = params.name if is_known else None
            log_call(tool, "refused", started, client, CALLER.get())
            raise
        return result

    async def answer_call(
        context: ServerRequestContext[Any, Any],
        params: types.CallToolRequestParams,
        is_found: bool,
        state: str | None,
    ) -> types.CallToolResult | types.InputRequiredResult:
        match = await toolset_server.find(params.name, client, is_found=is_found)
        if match is None:
            message = f"Unknown tool: {params.name}"
            raise MCPError(types.INVALID_PARAMS, escape_surrogates(message))
        if context.request is not None and toolset_server.parts:
            # The guard checks this call, and calls of other tools that its handler makes.
            CALL_GUARD.set(
                partial(toolset_server.find_refusal, headers=context.request.headers)
            )
        # A client's own confirmation does not count for a tool behind `call_found_tool`: the
        # user approved `call_found_tool`, not the tool that it calls.
        is_confirmed_by_client = client_confirms and not is_found
        ask = _UserPrompt(
            context, params, state, get_sealer, client_confirms=is_confirmed_by_client
        )
        try:
            call = partial(
                match.toolset.calls.admit,
                match.tool,
                match.provider,
                params.arguments,
                client,
                ask=ask,
                store_content=(
                    None
                    if content_store is None
                    else partial(content_store.store, CALLER.get().user)
                ),
            )
            if context.meta and "progress_token" in context.meta:
                from .elicitation import make_progress_notifications

                async with make_progress_notifications(
                    context, toolset_server.heartbeat
                ) as progress:
                    response = await call(report_progress=progress)
            else:
                response = await call()
            if ask.asker is not None:
                input_required = ask.asker.build_result()
                if input_required is not None:
                    return input_required
            tool = match.tool
            structured = "outputSchema" in tool.definition
            if structured and is_handshake_version(context.protocol_version):
                schema = tool.definition["outputSchema"]
                is_object = isinstance(response.result, dict)
                structured = is_object and has_object_root(schema)
            is_free_form = tool.proxy is not None or tool.has_fastmcp_results
            if is_free_form and isinstance(response.result, dict):
                # External servers and FastMCP send structured content even without an
                # `outputSchema`.
                structured = True
            send = "both" if tool.result is None else tool.result.send
            structured = structured and send != "text"
            return build_call_result(response, structured=structured, send=send)
        except Exception:
            # Catch every exception, because the SDK would send its message to clients with
            # handshake versions.
            _logger.exception("the result of %s cannot be sent", params.name)
            return build_error_result(
                "the result cannot be sent; the server's log contains the error"
            )

    middleware = _RequestMiddleware(
        toolset_server, client, takes_raw_json=takes_raw_json
    )
    server: Server[Any] = Server(
        toolset_server.name,
        lifespan=middleware.lifespan,
        title=toolset_server.title,
        version=toolset_server.version,
        instructions=toolset_server.instructions,
        on_list_tools=_list_no_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=_make_header_schema_lookup(toolset_server, client),
        **handlers,
    )
    if toolset_server.has_skills:
        from .resources_and_prompts import add_skill_methods

        add_skill_methods(server, get_skills)
    # Add the handler directly: the parameter of `Server` for it logs a warning, because
    # 2026-07-28 sets log levels in another way.
    server.add_request_handler(
        "logging/setLevel", types.SetLevelRequestParams, set_log_level
    )
    # Remove the SDK's default middleware: its only one creates OpenTelemetry spans, which would
    # duplicate the runtime's spans.
    server.middleware[:] = [middleware]
    middleware.server = server
    return server


class _UserPrompt:
    """Callable that asks the client's user (an `AskUser`).

    The asker is created at the first question, because most calls have no question.

    Attributes:
        asker: asks by the client's protocol version; None before the first question.
    """

    __slots__ = (
        "_client_confirms",
        "_context",
        "_get_sealer",
        "_params",
        "_state",
        "asker",
    )

    def __init__(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.CallToolRequestParams,
        state: str | None,
        get_sealer: Callable[[], StateSealer],
        *,
        client_confirms: bool,
    ) -> None:
        self._context = context
        self._params = params
        self._state = state
        self._get_sealer = get_sealer
        self._client_confirms = client_confirms
        self.asker: Asker | None = None

    @property
    def can_repeat_call(self) -> bool:
        """Whether the call may end with the question, to be repeated with the answer."""
        return self._client_confirms or not is_handshake_version(
            self._context.protocol_version
        )

    async def __call__(self, question: Question) -> Answer:
        from .elicitation import confirm_by_client, make_asker

        if self._client_confirms and question.approval is not None:
            return confirm_by_client(question)
        if self.asker is None:
            responses = self._params.input_responses
            refusal = self._get_sealer().refusal
            self.asker = make_asker(self._context, responses, self._state, refusal)
        return await self.asker(question)


class _RequestMiddleware:
    """Middleware of every request: sets the caller, and extends results of some requests.

    The caller is read from the request, not from a context variable of the transport: within a
    session, the task that answers was started by an earlier request.

    Attributes:
        server: the SDK's server of the requests.
    """

    server: Server[Any]

    def __init__(
        self,
        toolset_server: ToolsetServer,
        client: str | None,
        *,
        takes_raw_json: bool,
    ) -> None:
        self._toolset_server = toolset_server
        self._client = client
        self._takes_raw_json = takes_raw_json
        http = toolset_server.http
        headers = () if http is None else http.headers
        self._headers = tuple(name.lower() for name in headers)

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        token = CALLER.set(_build_caller(ctx, self._headers))
        request = McpRequest(ctx, self.server)
        request_token = REQUEST.set(request)
        try:
            if ctx.method == "tools/list":
                call_next = partial(self._list_tools, call_next)
            elif ctx.method == "tools/call":
                call_next = partial(_add_null_result, call_next)
            elif (
                ctx.method in ("initialize", "server/discover")
                and self._toolset_server.search
            ):
                call_next = partial(self._add_search_instructions, call_next)
            has_trace_parent = ctx.meta is not None and _TRACE_PARENT in ctx.meta
            # Record metrics only if the program itself has imported OpenTelemetry's metrics.
            is_measured = "opentelemetry.metrics" in sys.modules
            if has_trace_parent or is_measured or is_tracing_enabled():
                return await self._observed(ctx, call_next)
            return await call_next(ctx)
        finally:
            CALLER.reset(token)
            REQUEST.reset(request_token)
            await request.end()

    @asynccontextmanager
    async def lifespan(self, server: object) -> AsyncIterator[dict[str, Any]]:
        """Run for the duration of a connection, as the lifespan of the SDK's server."""
        try:
            yield {}
        finally:
            if "_observed" in vars(self):
                self._observed.end_session()

    @cached_property
    def _list_tools(self) -> Callable[..., Any]:
        from .tools_list import make_tools_list_middleware

        return make_tools_list_middleware(
            self._toolset_server, self._client, takes_raw_json=self._takes_raw_json
        )

    async def _add_search_instructions(
        self, call_next: CallNext, ctx: ServerRequestContext[Any, Any]
    ) -> HandlerResult:
        from .tool_search import add_search_instructions

        result: Any = await call_next(ctx)
        instructions = add_search_instructions(
            result.get("instructions"),
            self._toolset_server.count_unlisted_tools(self._client),
            has_others=self._toolset_server.external,
        )
        return (
            result if instructions is None else {**result, "instructions": instructions}
        )

    @cached_property
    def _observed(self) -> ObservedRequests:
        from ..telemetry.mcp_requests import ObservedRequests

        return ObservedRequests(self._toolset_server, self._client)


async def _add_null_result(
    call_next: CallNext, ctx: ServerRequestContext[Any, Any]
) -> HandlerResult:
    token = NULL_RESULT.set(False)
    try:
        result: Any = await call_next(ctx)
        return {**result, "structuredContent": None} if NULL_RESULT.get() else result
    finally:
        NULL_RESULT.reset(token)


def _build_caller(
    ctx: ServerRequestContext[Any, Any], header_names: Sequence[str]
) -> Caller:
    request = ctx.request
    if request is None:
        return Caller(request_id=ctx.request_id)
    caller: Caller = request.scope.get(CALLER_KEY, Caller())
    headers: Mapping[str, str] = request.headers
    return caller._replace(
        request_id=ctx.request_id,
        session=headers.get(_SESSION_HEADER),
        headers={name: headers[name] for name in header_names if name in headers},
    )


async def _list_no_tools(
    context: ServerRequestContext[Any, Any],
    params: types.PaginatedRequestParams | None,
) -> types.ListToolsResult:
    """Answer `tools/list` without tools; `make_tools_list_middleware` inserts them."""
    reject_cursor(params)
    return types.ListToolsResult(tools=[])


def _make_header_schema_lookup(
    toolset_server: ToolsetServer, client: str | None
) -> Callable[[str], Mapping[str, Any] | None]:
    """Return a function that returns a tool's input schema for checking HTTP headers.

    The function returns None for unknown tools and tools without header parameters. Without such
    a function the SDK would list all tools at each call over HTTP.
    """
    tools_without_headers: set[str] = set()

    def find_schema(name: str) -> Mapping[str, Any] | None:
        current_name = toolset_server.registry.resolve(name)
        # Search each schema only once for header parameters, which most schemas lack.
        if current_name in tools_without_headers or not toolset_server.has_tool(
            current_name
        ):
            return None
        try:
            schema = toolset_server.registry.get_tool(current_name, client).parameters
        except UnknownToolError:
            return None
        if _HEADER_ANNOTATION not in json.dumps(schema):
            tools_without_headers.add(current_name)
            return None
        return schema

    return find_schema
