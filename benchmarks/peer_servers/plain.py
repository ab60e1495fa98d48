"""Server on the SDK's low-level API, without validation, access checks or a ledger.

`plain.py TOOLS.json [--checked] [--http PORT]`; TOOLS.json is an array of MCP
definitions. With `--checked`, arguments are validated by cached jsonschema validators.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

TOOLS = [
    types.Tool.model_validate(tool)
    for tool in json.loads(Path(sys.argv[1]).read_text())
]
SCHEMAS = {tool.name: tool.input_schema for tool in TOOLS}


@cache
def get_validator(name: str) -> jsonschema.Draft202012Validator:
    """Return the cached validator of a tool's arguments."""
    return jsonschema.Draft202012Validator(SCHEMAS[name])


async def work(**arguments: Any) -> str:
    """Implement every tool."""
    return "done"


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    """Return every tool."""
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
    """Call `work`, after validation if `--checked` is set."""
    if "--checked" in sys.argv:
        error = jsonschema.exceptions.best_match(
            get_validator(params.name).iter_errors(params.arguments or {})
        )
        if error is not None:
            block = types.TextContent(type="text", text=error.message)
            return types.CallToolResult(content=[block], is_error=True)
    text = await work(**(params.arguments or {}))
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


SERVER: Server[Any] = Server(
    "plain",
    version="1",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    get_tool_input_schema=SCHEMAS.get,
)


async def serve() -> None:
    """Serve over stdio."""
    async with stdio_server() as (read, write):
        await SERVER.run(read, write, SERVER.create_initialization_options())


if __name__ == "__main__":
    if "--http" in sys.argv:
        import uvicorn

        app = SERVER.streamable_http_app(stateless_http=True)
        uvicorn.run(app, port=int(sys.argv[-1]), log_level="info")
    else:
        anyio.run(serve)
