"""The official SDK's low-level server for one client of a toolset.

What only some requests need, or some toolsets, is loaded by the first request that needs it, and
is in no other's way: questions to a person, progress, lists of tools, spans.

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
from ..core.context import CALL_GUARD, CALLER, Caller
from ..core.registry import UnknownToolError
from ..core.validation.protocol import has_object_root
from .results import (
    call_result,
    failure,
    is_before_2026,
    refuse_cursor,
    sendable,
    through_seal,
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

IDENTITY = "toolcast.caller"
"""The key of an ASGI scope with the `Caller` that a token was found to be of."""

CALLED = "toolcast.called"
"""The key of an ASGI scope whose request has called a tool, which the log has a line of."""

_SESSION = "mcp-session-id"
_PARENT = "traceparent"
"""The key of what a caller says of its own span."""
_HEADER_KEY = "x-mcp-header"
"""Marks a parameter that callers over HTTP repeat in a header.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""


def build_server(
    served: ToolsetServer,
    client: str | None = None,
    *,
    takes_raw_json: bool = False,
    is_one_of_several: bool = False,
    client_confirms: bool = False,
) -> Server[Any]:
    """The SDK's server for one client; a tool's handler is loaded at its first call.

    Args:
        served: what is served.
        client: who is served; None for the server's own client.
        takes_raw_json: the transport writes `RawJson` as it is.
        is_one_of_several: other processes answer requests of the same client.
        client_confirms: the client's own program asks a person where a tool has a `confirm`.

    Raises:
        SealingError: a person cannot be asked as the server is set up, and a tool has to.
        UnknownClientError: the toolset has clients and this is none of them.
        AccessError: who may have which tool cannot be found out.
    """
    who = served.client if client is None else client
    # Said now, and not to the first caller, when it cannot be found out.
    served.names(who)

    @cache
    def seal() -> StateSealer:
        from .request_state import sealing

        return sealing(served, who, is_one_of_several=is_one_of_several)

    if is_one_of_several or served.state_key_variable is not None:
        seal()

    further: dict[str, Any] = {}
    kept = None
    if served.links is not None and not is_one_of_several:
        kept = optional.content_blocks.KeptContent(served.name, served.links)

    @cache
    def skills() -> ServedSkills:
        return optional.skills.ServedSkills(partial(served.skills_of, who))

    if served.has_offers or served.has_skills or kept is not None:
        from .resources_and_prompts import offers

        further = offers(served, who, seal, kept, skills if served.has_skills else None)

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        started = time.perf_counter()
        if context.request is not None:
            context.request.scope[CALLED] = True
        is_found = False
        if served.search:
            from .tool_search import meant

            name, arguments, is_found = meant(params.name, params.arguments)
            named = {"name": name, "arguments": arguments}
            params = params.model_copy(update=named)
        answer = partial(answered, context, params, is_found)
        result: types.CallToolResult | types.InputRequiredResult
        try:
            result = await through_seal(seal, context, params.request_state, answer)
        except MCPError:
            # A name that nobody has may be anything that its caller knows.
            is_known = served.has(served.registry.resolve(params.name))
            tool = params.name if is_known else None
            log_call(tool, "refused", started, who, CALLER.get())
            raise
        return result

    async def answered(
        context: ServerRequestContext[Any, Any],
        params: types.CallToolRequestParams,
        is_found: bool,
        state: str | None,
    ) -> types.CallToolResult | types.InputRequiredResult:
        found = await served.find(params.name, who, is_found=is_found)
        if found is None:
            unknown = f"Unknown tool: {params.name}"
            raise MCPError(types.INVALID_PARAMS, sendable(unknown))
        if context.request is not None and served.parts:
            # For this call, and for those that its handler makes through the registry.
            CALL_GUARD.set(partial(served.refusal, headers=context.request.headers))
        # The client's program knew of another tool when it asked its person.
        approved = client_confirms and not is_found
        ask = _Person(context, params, state, seal, client_confirms=approved)
        try:
            call = partial(
                found.toolset.calls.admit,
                found.tool,
                found.provider,
                params.arguments,
                who,
                ask=ask,
                store_content=(
                    None if kept is None else partial(kept.keep, CALLER.get().user)
                ),
            )
            if context.meta and "progress_token" in context.meta:
                from .elicitation import asked_for

                async with asked_for(context, served.heartbeat) as progress:
                    response = await call(report_progress=progress)
            else:
                response = await call()
            if ask.asker is not None and (needed := ask.asker.result()) is not None:
                return needed
            tool = found.tool
            structured = "outputSchema" in tool.definition
            if structured and is_before_2026(context.protocol_version):
                schema = tool.definition["outputSchema"]
                is_object = isinstance(response.result, dict)
                structured = is_object and has_object_root(schema)
            if tool.proxy is not None and isinstance(response.result, dict):
                structured = True  # the server's own, which needs no schema
            send = "both" if tool.result is None else tool.result.send
            structured = structured and send != "text"
            return call_result(response, structured=structured, send=send)
        except Exception:
            # What gets out of here reaches legacy clients with its text.
            _logger.exception("the answer of %s cannot be sent", params.name)
            return failure("the answer cannot be sent; the server's log says why")

    requests = _Requests(served, who, takes_raw_json=takes_raw_json)
    server: Server[Any] = Server(
        served.name,
        lifespan=requests.lifespan,
        title=served.title,
        version=served.version,
        instructions=served.instructions,
        on_list_tools=_empty_list,
        on_call_tool=call_tool,
        get_tool_input_schema=_header_schemas(served, who),
        **further,
    )
    if served.has_skills:
        from .resources_and_prompts import add_skill_methods

        add_skill_methods(server, skills)
    # In place of the SDK's own, which is all that stands there.
    server.middleware[:] = [requests]
    return server


class _Person:
    """Asks the person in front of a client, as `AskUser`: most calls ask nobody.

    Attributes:
        asker: what asks, once something is asked.
        is_later: the call may end with the question, and is made again with its answer.
    """

    __slots__ = ("_client_confirms", "_context", "_params", "_seal", "_state", "asker")

    def __init__(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.CallToolRequestParams,
        state: str | None,
        seal: Callable[[], StateSealer],
        *,
        client_confirms: bool,
    ) -> None:
        self._context = context
        self._params = params
        self._state = state
        self._seal = seal
        self._client_confirms = client_confirms
        self.asker: Asker | None = None

    @property
    def is_later(self) -> bool:
        return self._client_confirms or not is_before_2026(
            self._context.protocol_version
        )

    async def __call__(self, question: Question) -> Answer:
        from .elicitation import approved, asker

        if self._client_confirms and question.approval is not None:
            return approved(question)
        if self.asker is None:
            responses = self._params.input_responses
            refusal = self._seal().refusal
            self.asker = asker(self._context, responses, self._state, refusal)
        return await self.asker(question)


class _Requests:
    """The middleware of every request: it tells who asks, and does more with some of them.

    What the transport has found out is read from the request itself: the task that answers
    a request of a session was begun by an earlier one.
    """

    def __init__(
        self, served: ToolsetServer, client: str | None, *, takes_raw_json: bool
    ) -> None:
        self._served = served
        self._client = client
        self._takes_raw_json = takes_raw_json
        headers = () if served.http is None else served.http.headers
        self._headers = tuple(name.lower() for name in headers)

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        token = CALLER.set(_caller(ctx, self._headers))
        try:
            if ctx.method == "tools/list":
                call_next = partial(self._listed, call_next)
            elif (
                ctx.method in ("initialize", "server/discover") and self._served.search
            ):
                call_next = partial(self._introduced, call_next)
            is_handed_on = ctx.meta is not None and _PARENT in ctx.meta
            # By itself nothing imports the API of metrics.
            is_measured = "opentelemetry.metrics" in sys.modules
            if is_handed_on or is_measured or is_tracing_enabled():
                return await self._observed(ctx, call_next)
            return await call_next(ctx)
        finally:
            CALLER.reset(token)

    @asynccontextmanager
    async def lifespan(self, server: object) -> AsyncIterator[dict[str, Any]]:
        """The SDK's server's: it is left when the connection ends."""
        try:
            yield {}
        finally:
            if "_observed" in vars(self):
                self._observed.end_session()

    @cached_property
    def _listed(self) -> Callable[..., Any]:
        from .tools_list import exact_tools

        raw = self._takes_raw_json
        return exact_tools(self._served, self._client, takes_raw_json=raw)

    async def _introduced(
        self, call_next: CallNext, ctx: ServerRequestContext[Any, Any]
    ) -> HandlerResult:
        from .tool_search import introduced

        result: Any = await call_next(ctx)
        hidden = self._served.hidden(self._client)
        others = self._served.external
        text = introduced(result.get("instructions"), hidden, has_others=others)
        return result if text is None else {**result, "instructions": text}

    @cached_property
    def _observed(self) -> ObservedRequests:
        from ..telemetry.mcp_requests import ObservedRequests

        return ObservedRequests(self._served, self._client)


def _caller(ctx: ServerRequestContext[Any, Any], names: Sequence[str]) -> Caller:
    request = ctx.request
    if request is None:
        return Caller(request_id=ctx.request_id)
    known: Caller = request.scope.get(IDENTITY, Caller())
    sent: Mapping[str, str] = request.headers
    return known._replace(
        request_id=ctx.request_id,
        session=sent.get(_SESSION),
        headers={name: sent[name] for name in names if name in sent},
    )


async def _empty_list(
    context: ServerRequestContext[Any, Any],
    params: types.PaginatedRequestParams | None,
) -> types.ListToolsResult:
    """The handler of `tools/list`; `exact_tools` puts the tools in."""
    refuse_cursor(params)
    return types.ListToolsResult(tools=[])


def _header_schemas(
    served: ToolsetServer, client: str | None
) -> Callable[[str], Mapping[str, Any] | None]:
    """Gives the schema that the SDK compares a call's headers with; None compares none.

    Without it the SDK lists all tools for each call over HTTP.
    """
    plain: set[str] = set()

    def input_schema(name: str) -> Mapping[str, Any] | None:
        # One look-up a call, and no walk through a schema that asks for no header.
        present = served.registry.resolve(name)
        if present in plain or not served.has(present):
            return None
        try:
            schema = served.registry.get_tool(present, client).parameters
        except UnknownToolError:
            return None
        if _HEADER_KEY not in json.dumps(schema):
            plain.add(present)
            return None
        return schema

    return input_schema
