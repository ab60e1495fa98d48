"""Server of the mixed tools on the SDK's low-level API: `plain_server.py PORT`."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from collections.abc import Callable
from typing import Any

import mcp_types as types
import uvicorn
import work
from mcp.server import Server
from mcp.shared.exceptions import MCPError

_TYPES = {"str": "string", "int": "integer"}


def _build_schema(function: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters.values()
    return {
        "type": "object",
        "properties": {p.name: {"type": _TYPES[p.annotation]} for p in parameters},
        "required": [p.name for p in parameters if p.default is p.empty],
    }


FUNCTIONS = {
    name: getattr(work, name) for name in work.__all__ if name != "NoSuchVisitError"
}
TOOLS = [
    types.Tool(
        name=name, description=function.__doc__, input_schema=_build_schema(function)
    )
    for name, function in FUNCTIONS.items()
]
SCHEMAS = {tool.name: tool.input_schema for tool in TOOLS}


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    """Return every tool."""
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(context: Any, params: Any) -> types.CallToolResult:
    """Call a tool; functions that are not async run in a thread."""
    function = FUNCTIONS.get(params.name)
    if function is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
    arguments = params.arguments or {}
    try:
        if inspect.iscoroutinefunction(function):
            value = await function(**arguments)
        else:
            value = await asyncio.to_thread(function, **arguments)
    except work.NoSuchVisitError as error:
        block = types.TextContent(type="text", text=str(error))
        return types.CallToolResult(content=[block], is_error=True)
    text = value if isinstance(value, str) else json.dumps(value)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


if __name__ == "__main__":
    server: Server[Any] = Server(
        "plain",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        get_tool_input_schema=SCHEMAS.get,
    )
    app = server.streamable_http_app(stateless_http=True)
    uvicorn.run(app, port=int(sys.argv[1]))
