"""Routes for MCP server entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import RequestRefusedError
from .routing import Routes, get_arguments, get_entry, get_tool

if TYPE_CHECKING:
    from ..serving import Request

__all__ = ["ROUTES"]

ROUTES = Routes()


@ROUTES.add("GET", "/v1/mcp-servers/")
def list_servers(request: Request) -> Any:
    """Return all entries, without pages."""
    return [entry.encode() for entry in request.world.entries.values()]


@ROUTES.add("POST", "/v1/mcp-servers/")
def create_server(request: Request) -> Any:
    """Create an entry; an unreachable server returns 200 without tools."""
    config = dict(request.body["config"])
    config.setdefault("mcp_server_type", "streamable_http")
    for key in ("auth_header", "auth_token", "custom_headers"):
        config.setdefault(key, None)
    return request.world.create_entry(request.body["server_name"], config).encode()


@ROUTES.add("GET", "/v1/mcp-servers/([^/]+)")
def retrieve_server(request: Request, entry_id: str) -> Any:
    """Return an entry."""
    return get_entry(request, entry_id).encode()


@ROUTES.add("PATCH", "/v1/mcp-servers/([^/]+)")
def update_server(request: Request, entry_id: str) -> Any:
    """Update URL and headers; the URL is required and a token ignored."""
    config = request.body.get("config") or {}
    if "server_url" not in config:
        raise RequestRefusedError(
            422, "[{'type': 'missing', 'loc': ('config', 'server_url')}]"
        )
    entry = get_entry(request, entry_id)
    name = request.body.get("server_name")
    return request.world.update_entry(entry, name, config).encode()


@ROUTES.add("DELETE", "/v1/mcp-servers/([^/]+)")
def delete_server(request: Request, entry_id: str) -> Any:
    """Delete an entry and its tools."""
    request.world.delete_entry(get_entry(request, entry_id))


@ROUTES.add("GET", "/v1/mcp-servers/([^/]+)/tools")
def list_server_tools(request: Request, entry_id: str) -> Any:
    """Return the registered tools of an entry; none for an unknown entry."""
    ids = {tool for entry, tool in request.world.mcp_tools if entry == entry_id}
    world = request.world
    return [tool.encode() for tool in world.tools.values() if tool.id in ids]


@ROUTES.add("POST", "/v1/mcp-servers/([^/]+)/tools/([^/]+)/run")
def run_server_tool(request: Request, entry_id: str, tool_id: str) -> Any:
    """Run a tool without an agent."""
    get_entry(request, entry_id)
    tool = get_tool(request, tool_id)
    text, success = request.world.run_tool(None, tool, get_arguments(request))
    return {"status": "success" if success else "error", "func_return": text}


@ROUTES.add("PATCH", "/v1/mcp-servers/([^/]+)/refresh")
def refresh(request: Request, entry_id: str) -> Any:
    """Refresh an entry; this can delete tools."""
    return request.world.refresh(get_entry(request, entry_id))
