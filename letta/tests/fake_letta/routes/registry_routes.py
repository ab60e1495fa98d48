"""Routes for health, the tool registry and its legacy MCP server API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import RequestRefusedError
from ..mcp_side import UnreachableError
from ..rows import Entry
from .routing import Routes, build_unreachable_error, find_entry, get_tool

if TYPE_CHECKING:
    from ..serving import Request

__all__ = ["ROUTES"]

ROUTES = Routes()


@ROUTES.add("GET", "/v1/health/")
def health(request: Request) -> Any:
    """Return version and status, without authentication."""
    return {"version": request.world.version, "status": "ok"}


@ROUTES.add("GET", "/v1/tools/count")
def count_tools(request: Request) -> Any:
    """Return the number of tools of the organization."""
    return len(request.world.tools)


@ROUTES.add("GET", "/v1/tools/")
def list_tools(request: Request) -> Any:
    """Return a page of the registry."""
    names = [*(request.get_values("name") or ()), *(request.get_values("names") or ())]
    page = request.world.list_tools(
        limit=request.get_number("limit", 50),
        after=request.get_value("after"),
        before=request.get_value("before"),
        ascending=request.get_value("order", "desc") == "asc",
        names=names or None,
        types=request.get_values("tool_types"),
    )
    return [tool.encode() for tool in page]


@ROUTES.add("POST", "/v1/tools/")
def create_tool(request: Request) -> Any:
    """Create a custom tool with the name in its schema."""
    schema = request.body.get("json_schema")
    if not schema:
        raise RequestRefusedError(501, "this fake derives no schema from source code")
    if request.world.find_tool(schema["name"]) is not None:
        raise RequestRefusedError(
            409, f"Unable to create tool; name '{schema['name']}' already exists."
        )
    tool = request.world.add_custom_tool(
        schema["name"],
        json_schema=schema,
        description=schema.get("description"),
        source_code=request.body.get("source_code"),
    )
    return tool.encode()


@ROUTES.add("GET", "/v1/tools/mcp/servers")
def list_legacy_servers(request: Request) -> Any:
    """Return the entries by name."""
    return {e.server_name: e.encode() for e in request.world.entries.values()}


@ROUTES.add("POST", "/v1/tools/mcp/servers/test")
def probe_server(request: Request) -> Any:
    """Return the tools of a server that has no entry."""
    config = dict(request.body)
    entry = Entry("", config.get("server_name", ""), config)
    try:
        side = request.world.get_server(config)
        tools = side.list_tools(entry.headers({}))
    except UnreachableError as error:
        raise build_unreachable_error(error) from error
    return {"status": "success", "tools": [{**tool, "health": None} for tool in tools]}


@ROUTES.add("GET", "/v1/tools/mcp/servers/([^/]+)/tools")
def list_live_tools(request: Request, name: str) -> Any:
    """Return the tools that the server offers now."""
    entry = find_entry(request, name)
    try:
        return request.world.list_live_tools(entry)
    except UnreachableError as error:
        raise build_unreachable_error(error) from error


@ROUTES.add("POST", "/v1/tools/mcp/servers/([^/]+)/([^/]+)")
def register_tool(request: Request, server: str, name: str) -> Any:
    """Insert or update one tool; an unknown tool returns 500."""
    entry = find_entry(request, server)
    try:
        live = {tool["name"]: tool for tool in request.world.list_live_tools(entry)}
    except UnreachableError as error:
        raise build_unreachable_error(error) from error
    if name not in live:
        raise RequestRefusedError(500, "An unknown error occurred")
    return request.world.register(entry, live[name]).encode()


@ROUTES.add("GET", "/v1/tools/([^/]+)")
def retrieve_tool(request: Request, tool_id: str) -> Any:
    """Return a tool."""
    return get_tool(request, tool_id).encode()


@ROUTES.add("PATCH", "/v1/tools/([^/]+)")
def modify_tool(request: Request, tool_id: str) -> Any:
    """Update settings of a tool."""
    tool = get_tool(request, tool_id)
    for key in (
        "description",
        "tags",
        "return_char_limit",
        "default_requires_approval",
        "enable_parallel_execution",
        "json_schema",
        "metadata_",
    ):
        if request.body.get(key) is not None:
            setattr(tool, key, request.body[key])
    return tool.encode()


@ROUTES.add("DELETE", "/v1/tools/([^/]+)")
def delete_tool(request: Request, tool_id: str) -> Any:
    """Delete a tool and detach it from every agent."""
    request.world.delete_tool(get_tool(request, tool_id).id)
