"""An MCP server with the tool names of a public Google Workspace server.

The names are from `workspace-mcp` (github.com/taylorwilsdon/google_workspace_mcp); events
are stored in memory.
"""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

EVENTS: list[str] = []
NAMES = {
    "list_calendars": {},
    "get_events": {},
    "manage_event": {"summary": {"type": "string"}},
}


async def list_tools(
    context: ServerRequestContext[Any, Any], params: Any
) -> types.ListToolsResult:
    tools = [
        types.Tool(
            name=name,
            description=f"Does {name}.",
            input_schema={"type": "object", "properties": properties},
        )
        for name, properties in NAMES.items()
    ]
    return types.ListToolsResult(tools=tools)


async def call_tool(
    context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
) -> types.CallToolResult:
    if params.name == "manage_event":
        EVENTS.append(str((params.arguments or {})["summary"]))
    text = f"{params.name}: {', '.join(EVENTS)}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def main() -> None:
    server = Server("workspace", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
