"""The entries of MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..refused import RequestRefusedError
from .routing import Routes, arguments_of, entry_of, tool_of

if TYPE_CHECKING:
    from ..serving import Request

__all__ = ["ROUTES"]

ROUTES = Routes()


@ROUTES.on("GET", "/v1/mcp-servers/")
def list_servers(request: Request) -> Any:
    """All of them, without pages."""
    return [entry.shown() for entry in request.world.entries.values()]


@ROUTES.on("POST", "/v1/mcp-servers/")
def create_server(request: Request) -> Any:
    """An unreachable server gives 200, and no tools."""
    config = dict(request.body["config"])
    config.setdefault("mcp_server_type", "streamable_http")
    for key in ("auth_header", "auth_token", "custom_headers"):
        config.setdefault(key, None)
    return request.world.create_entry(request.body["server_name"], config).shown()


@ROUTES.on("GET", "/v1/mcp-servers/([^/]+)")
def retrieve_server(request: Request, entry_id: str) -> Any:
    """One entry."""
    return entry_of(request, entry_id).shown()


@ROUTES.on("PATCH", "/v1/mcp-servers/([^/]+)")
def update_server(request: Request, entry_id: str) -> Any:
    """URL and headers; the URL is required, a token is not taken."""
    config = request.body.get("config") or {}
    if "server_url" not in config:
        raise RequestRefusedError(
            422, "[{'type': 'missing', 'loc': ('config', 'server_url')}]"
        )
    entry = entry_of(request, entry_id)
    name = request.body.get("server_name")
    return request.world.update_entry(entry, name, config).shown()


@ROUTES.on("DELETE", "/v1/mcp-servers/([^/]+)")
def delete_server(request: Request, entry_id: str) -> Any:
    """Its tools go with it."""
    request.world.delete_entry(entry_of(request, entry_id))


@ROUTES.on("GET", "/v1/mcp-servers/([^/]+)/tools")
def server_tools(request: Request, entry_id: str) -> Any:
    """Registered ones; an unknown entry has none."""
    ids = {tool for entry, tool in request.world.mcp_tools if entry == entry_id}
    world = request.world
    return [tool.shown() for tool in world.tools.values() if tool.id in ids]


@ROUTES.on("POST", "/v1/mcp-servers/([^/]+)/tools/([^/]+)/run")
def run_server_tool(request: Request, entry_id: str, tool_id: str) -> Any:
    """Without an agent."""
    entry_of(request, entry_id)
    tool = tool_of(request, tool_id)
    text, success = request.world.run_tool(None, tool, arguments_of(request))
    return {"status": "success" if success else "error", "func_return": text}


@ROUTES.on("PATCH", "/v1/mcp-servers/([^/]+)/refresh")
def refresh(request: Request, entry_id: str) -> Any:
    """Destructive."""
    return request.world.refresh(entry_of(request, entry_id))
