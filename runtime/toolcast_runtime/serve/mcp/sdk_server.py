"""The official SDK's low-level server for one client of a toolset.

Needs `mcp` 2.x. Source: https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from ...core.calls.watching import log_call
from ...core.context import CALL_GUARD, CALLER
from ...core.validation.protocol import is_listed_before_2026
from ..telemetry.mcp_requests import PipeSession, watched_requests
from .asking import Approved, asker
from .callers import CALLED, told_who_asks
from .progress_notifications import asked_for
from .results import call_result, failure, sendable
from .sealing import sealing
from .tools_list import empty_list, exact_tools, header_schemas, is_before_2026

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

    from .toolset_server import ToolsetServer

_logger = logging.getLogger("toolcast")


def build_server(
    served: ToolsetServer,
    client: str | None = None,
    *,
    takes_raw_json: bool = False,
    is_one_of_several: bool = False,
    approves: bool = False,
) -> Server[Any]:
    """The SDK's server for one client; a tool's handler is loaded at its first call.

    Args:
        served: what is served.
        client: who is served; None for the server's own client.
        takes_raw_json: the transport writes `RawJson` as it is.
        is_one_of_several: other processes answer requests of the same client.
        approves: the client's own program asks a person where a tool has a `confirm`.

    Raises:
        SealingError: a person cannot be asked as the server is set up, and a tool has to.
        UnknownClientError: the toolset has clients and this is none of them.
        AccessError: who may have which tool cannot be found out.
    """
    who = served.client if client is None else client
    # Said now, and not to the first caller, when it cannot be found out.
    served.names(who)
    seal = sealing(served, who, is_one_of_several=is_one_of_several)

    further: dict[str, Any] = {}
    kept = None
    if served.links is not None and not is_one_of_several:
        from ...rooms.resources.kept_content import KeptContent

        kept = KeptContent(served.name, served.links)
    skills = None
    if served.has_skills:
        from ...rooms.skills.served_skills import ServedSkills

        skills = ServedSkills(partial(served.skills_of, who))
    if served.has_offers or kept or skills:
        from .offers import offers

        further = offers(served, who, seal, kept, skills)

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        started = time.perf_counter()
        if context.request is not None:
            context.request.scope[CALLED] = True
        answer = partial(answered, context, params)
        result: types.CallToolResult | types.InputRequiredResult
        try:
            result = await seal.answered(context, params.request_state, answer)
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
        state: str | None,
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = await served.find(params.name, who)
        if tool is None:
            unknown = f"Unknown tool: {params.name}"
            raise MCPError(types.INVALID_PARAMS, sendable(unknown))
        if context.request is not None and served.parts:
            # For this call, and for those that its handler makes through the registry.
            CALL_GUARD.set(partial(served.refusal, headers=context.request.headers))
        ask = asker(context, params.input_responses, state, seal.refusal)
        try:
            call = partial(
                served.registry.call_tool,
                params.name,
                params.arguments,
                who,
                ask=Approved(ask) if approves else ask,
                keep=None if kept is None else partial(kept.keep, CALLER.get().user),
            )
            progress = asked_for(context, has_heartbeat=served.heartbeat)
            if progress is None:
                response = await call()
            else:
                async with progress:
                    response = await call(report_progress=progress)
            needed = ask.result()
            if needed is not None:
                return needed
            schema = tool.definition.get("outputSchema")
            old = is_before_2026(context.protocol_version)
            structured = (
                is_listed_before_2026(schema) and isinstance(response.result, dict)
                if old
                else "outputSchema" in tool.definition
            )
            if tool.proxy is not None and isinstance(response.result, dict):
                structured = True  # the server's own, which needs no schema
            return call_result(response, structured=structured)
        except Exception:
            # What gets out of here reaches legacy clients with its text.
            _logger.exception("the answer of %s cannot be sent", params.name)
            return failure("the answer cannot be sent; the server's log says why")

    session = PipeSession()
    server: Server[Any] = Server(
        served.name,
        lifespan=session.lifespan,
        title=served.title,
        version=served.version,
        instructions=served.instructions,
        on_list_tools=empty_list,
        on_call_tool=call_tool,
        get_tool_input_schema=header_schemas(served, who),
        **further,
    )
    if skills is not None:
        skills.add_to(server)
    # In place of the SDK's own, which is all that stands there.
    server.middleware[:] = [watched_requests(served, who, session)]
    headers = () if served.http is None else served.http.headers
    server.middleware.append(told_who_asks(headers))
    server.middleware.append(exact_tools(served, who, takes_raw_json=takes_raw_json))
    return server
