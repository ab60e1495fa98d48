"""The answer to `tools/list`: the tools exactly as the specs have them.

The SDK's models drop unknown keys and nulls, change the order of keys, and refuse the whole
list for one tool. So its answer gets its tools behind the models, in the SDK's middleware: as
JSON text where the transport writes `RawJson`, else as plain objects.

Source: https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from ..registry import UnknownToolError
from .framing import RawJson

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import (
        CallNext,
        HandlerResult,
        ServerMiddleware,
        ServerRequestContext,
    )

    from .toolset_server import ToolsetServer

__all__ = ["empty_list", "exact_tools", "header_schemas"]

_HEADER_KEY = "x-mcp-header"
"""Marks a parameter that callers over HTTP repeat in a header.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""


async def empty_list(
    context: ServerRequestContext[Any, Any],
    params: types.PaginatedRequestParams | None,
) -> types.ListToolsResult:
    """The handler of `tools/list`; `exact_tools` puts the tools in."""
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor: there is one page")
    return types.ListToolsResult(tools=[])


def exact_tools(
    served: ToolsetServer, client: str | None, *, takes_raw_json: bool
) -> ServerMiddleware[Any]:
    """The middleware that puts a client's tools into the SDK's answer.

    Args:
        served: whose tools.
        client: who is served.
        takes_raw_json: the transport writes `RawJson` as it is, so that a list is sent
            without one object being built for it.
    """
    shown: tuple[tuple[str, ...], Any] = ((), [])

    async def put_in(
        ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        nonlocal shown
        result = await call_next(ctx)
        if ctx.method != "tools/list" or not isinstance(result, dict):
            return result
        present = served.names(client)
        if present != shown[0]:
            shown = present, _local(served, client, takes_raw_json=takes_raw_json)
        further = [tool.definition for tool in await served.external_tools(client)]
        return {**result, "tools": _with(shown[1], further)}

    return put_in


def _local(
    served: ToolsetServer, client: str | None, *, takes_raw_json: bool
) -> RawJson | list[Mapping[str, Any]]:
    tools = served.tools(client)
    if not takes_raw_json:
        return [tool.definition for tool in tools]
    return RawJson(b"[" + b",".join([tool.mcp_json() for tool in tools]) + b"]")


def _with(own: Any, further: list[Mapping[str, Any]]) -> Any:
    """A list of tools and further ones, as JSON text where the list is."""
    if not further:
        return own
    if not isinstance(own, RawJson):
        return [*own, *further]
    text = json.dumps(further, ensure_ascii=False).encode("utf-8")
    return RawJson(text if own.text == b"[]" else own.text[:-1] + b"," + text[1:])


def header_schemas(
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
