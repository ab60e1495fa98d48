"""Health, the registry of tools, and its older view of MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..mcp_side import UnreachableError
from ..refused import RequestRefusedError
from ..rows import Entry
from .routing import Routes, entry_named, tool_of, unreachable

if TYPE_CHECKING:
    from ..serving import Request

__all__ = ["ROUTES"]

ROUTES = Routes()


@ROUTES.on("GET", "/v1/health/")
def health(request: Request) -> Any:
    """Open in secure mode, too."""
    return {"version": request.world.version, "status": "ok"}


@ROUTES.on("GET", "/v1/tools/count")
def count_tools(request: Request) -> Any:
    """Every tool of the organisation."""
    return len(request.world.tools)


@ROUTES.on("GET", "/v1/tools/")
def list_tools(request: Request) -> Any:
    """A page of the registry."""
    names = [*(request.many("name") or ()), *(request.many("names") or ())]
    page = request.world.list_tools(
        limit=request.number("limit", 50),
        after=request.one("after"),
        before=request.one("before"),
        ascending=request.one("order", "desc") == "asc",
        names=names or None,
        types=request.many("tool_types"),
    )
    return [tool.shown() for tool in page]


@ROUTES.on("POST", "/v1/tools/")
def create_tool(request: Request) -> Any:
    """A custom tool, named by its schema."""
    schema = request.body.get("json_schema")
    if not schema:
        raise RequestRefusedError(501, "this fake derives no schema from source code")
    if request.world.tool_named(schema["name"]) is not None:
        raise RequestRefusedError(
            409, f"Unable to create tool; name '{schema['name']}' already exists."
        )
    tool = request.world.custom_tool(
        schema["name"],
        json_schema=schema,
        description=schema.get("description"),
        source_code=request.body.get("source_code"),
    )
    return tool.shown()


@ROUTES.on("GET", "/v1/tools/mcp/servers")
def legacy_servers(request: Request) -> Any:
    """By name."""
    return {e.server_name: e.shown() for e in request.world.entries.values()}


@ROUTES.on("POST", "/v1/tools/mcp/servers/test")
def try_server(request: Request) -> Any:
    """What a server offers that has no entry."""
    config = dict(request.body)
    entry = Entry("", config.get("server_name", ""), config)
    try:
        side = request.world.reach(config)
        tools = side.list_tools(entry.headers({}))
    except UnreachableError as error:
        raise unreachable(error) from error
    return {"status": "success", "tools": [{**tool, "health": None} for tool in tools]}


@ROUTES.on("GET", "/v1/tools/mcp/servers/([^/]+)/tools")
def live_tools(request: Request, name: str) -> Any:
    """The only view of what the server offers now."""
    entry = entry_named(request, name)
    try:
        return request.world.live_tools(entry)
    except UnreachableError as error:
        raise unreachable(error) from error


@ROUTES.on("POST", "/v1/tools/mcp/servers/([^/]+)/([^/]+)")
def register_tool(request: Request, server: str, name: str) -> Any:
    """Upserts one tool; an unknown one is a 500."""
    entry = entry_named(request, server)
    try:
        live = {tool["name"]: tool for tool in request.world.live_tools(entry)}
    except UnreachableError as error:
        raise unreachable(error) from error
    if name not in live:
        raise RequestRefusedError(500, "An unknown error occurred")
    return request.world.register(entry, live[name]).shown()


@ROUTES.on("GET", "/v1/tools/([^/]+)")
def retrieve_tool(request: Request, tool_id: str) -> Any:
    """One row."""
    return tool_of(request, tool_id).shown()


@ROUTES.on("PATCH", "/v1/tools/([^/]+)")
def modify_tool(request: Request, tool_id: str) -> Any:
    """Settings of one row."""
    tool = tool_of(request, tool_id)
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
    return tool.shown()


@ROUTES.on("DELETE", "/v1/tools/([^/]+)")
def delete_tool(request: Request, tool_id: str) -> Any:
    """Every agent loses it."""
    request.world.delete_tool(tool_of(request, tool_id).id)
