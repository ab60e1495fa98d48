"""An MCP server for proxied toolsets, with progress, errors, images and cancellation.

    python source.py CALLED [PORT]

It appends a line for each call to the file CALLED. Over stdio, or at /mcp of the port.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

CALLED = Path("".join(sys.argv[1:2]))
PIXEL = "iVBORw0KGgo="
DEFINITIONS = [
    {
        "name": "print-it",
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string"}, "at": {"format": "date"}},
            "required": ["text"],
        },
        "outputSchema": {
            "type": "object",
            "properties": {"pages": {"type": "integer"}},
        },
        "_meta": {},
    },
    {"name": "wait", "description": "", "inputSchema": {"type": "object"}},
]


def record_call(entry: Any) -> None:
    with CALLED.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


async def list_tools(
    context: ServerRequestContext[Any, Any], params: Any
) -> types.ListToolsResult:
    tools = [types.Tool.model_validate(definition) for definition in DEFINITIONS]
    return types.ListToolsResult(tools=tools)


async def call_tool(
    context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
) -> types.CallToolResult:
    arguments = params.arguments or {}
    record_call([params.name, arguments])
    if params.name == "wait" and arguments:
        value = {"waited": True}
        return types.CallToolResult(content=[], structured_content=value)
    if params.name == "wait":
        await context.session.report_progress(1, 4, "a quarter")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            record_call("called off")
            raise
    if arguments["text"] == "jam":
        text = types.TextContent(type="text", text="the paper is jammed")
        image = types.ImageContent(type="image", data=PIXEL, mime_type="image/png")
        return types.CallToolResult(content=[text, image], is_error=True)
    await context.session.report_progress(1, 2, "half of it")
    blocks: list[Any] = [
        types.TextContent(type="text", text="printed"),
        types.ImageContent(type="image", data=PIXEL, mime_type="image/png"),
    ]
    pages = {"pages": "many" if arguments["text"] == "lie" else 3}
    return types.CallToolResult(content=blocks, structured_content=pages)


async def serve(server: Server[Any]) -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def main() -> None:
    server = Server("source", on_list_tools=list_tools, on_call_tool=call_tool)
    if len(sys.argv) == 2:
        asyncio.run(serve(server))
        return
    import uvicorn

    app = server.streamable_http_app()
    config = uvicorn.Config(app, port=int(sys.argv[2]), log_level="warning")
    uvicorn.Server(config).run()


if __name__ == "__main__":
    main()
