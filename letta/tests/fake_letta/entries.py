"""MCP server entries and the registration of their tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import RequestRefusedError
from .mcp_side import HttpServer, McpSide, UnreachableError
from .registry import Registry
from .rows import Entry, Tool
from .schemas import build_stored_schema, compute_health, normalize_schema

__all__ = ["Entries"]

_MAX_REFRESHED_TOOLS = 50


class Entries(Registry):
    """A registry and the MCP servers whose tools it registers.

    Attributes:
        servers: in-process servers by URL; other URLs are requested over HTTP.
        mcp_tools: pairs of an entry's id and the id of a registered tool.
    """

    def __init__(self) -> None:
        super().__init__()
        self.servers: dict[str, McpSide] = {}
        self.entries: dict[str, Entry] = {}
        self.mcp_tools: list[tuple[str, str]] = []

    def delete_tool(self, tool_id: str) -> None:
        """Delete a tool and its registration."""
        super().delete_tool(tool_id)
        self.mcp_tools = [pair for pair in self.mcp_tools if pair[1] != tool_id]

    def find_entry(self, name: str) -> Entry | None:
        """Return the entry with a name, or None."""
        return next((e for e in self.entries.values() if e.server_name == name), None)

    def get_server(self, config: Mapping[str, Any]) -> McpSide:
        """Return the MCP server of a configuration."""
        url = config.get("server_url")
        if not isinstance(url, str):
            raise RequestRefusedError(
                501, "this fake speaks to MCP servers at URLs only"
            )
        return self.servers.get(url) or HttpServer(url)

    def list_live_tools(
        self, entry: Entry, secrets: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the server's first page of tools, normalized and with their health.

        Raises:
            UnreachableError: the server does not answer.
        """
        headers = entry.headers(secrets or {})
        tools = self.get_server(entry.config).list_tools(headers)
        for tool in tools:
            tool.setdefault("health", None)
            if tool.get("inputSchema"):
                tool["inputSchema"] = normalize_schema(tool["inputSchema"])
                status, reasons = compute_health(tool["inputSchema"])
                tool["health"] = {"status": status, "reasons": reasons}
        return tools

    def register(self, entry: Entry, live: dict[str, Any]) -> Tool:
        """Insert or update a live tool as the entry's."""
        owner = {"server_name": entry.server_name, "server_id": entry.id}
        tool = self.upsert(
            live["name"],
            tool_type="external_mcp",
            description=live.get("description"),
            json_schema=build_stored_schema(live),
            tags=[f"mcp:{entry.server_name}"],
            metadata_={"mcp": owner},
            source_code=f"def {live['name']}(**kwargs):\n    raise RuntimeError()",
        )
        self.mcp_tools.append((entry.id, tool.id))
        return tool

    def create_entry(self, name: str, config: dict[str, Any]) -> Entry:
        """Create an entry and register its tools, if the server is reachable."""
        if self.find_entry(name) is not None:
            raise RequestRefusedError(
                409,
                "(sqlalchemy.dialects.postgresql.asyncpg.IntegrityError) duplicate key"
                ' value violates unique constraint "uix_name_organization_mcp_server"',
            )
        if config.get("auth_token") and not config.get("auth_header"):
            config = {**config, "auth_token": None}
        entry = Entry(self.new_id("mcp_server"), name, config)
        self.entries[entry.id] = entry
        try:
            listed = self.list_live_tools(entry)
        except UnreachableError:
            return entry
        for live in listed:
            if (live["health"] or {}).get("status") == "INVALID":
                continue
            try:
                self.register(entry, live)
            except RequestRefusedError:
                # Letta logs the error and continues.
                continue
        return entry

    def update_entry(self, entry: Entry, name: str | None, config: Any) -> Entry:
        """Change an entry; as in Letta, a new token is accepted and ignored."""
        changes = {
            key: value
            for key, value in config.items()
            if key not in ("auth_token", "auth_header") and value is not None
        }
        entry.config = {**entry.config, **changes}
        if name is not None:
            entry.server_name = name
        return entry

    def delete_entry(self, entry: Entry) -> None:
        """Delete an entry and the tools that it owns."""
        for tool in list(self.tools.values()):
            if _get_owner_id(tool) == entry.id:
                self.delete_tool(tool.id)
        self.mcp_tools = [pair for pair in self.mcp_tools if pair[0] != entry.id]
        del self.entries[entry.id]

    def refresh(self, entry: Entry) -> dict[str, list[str]]:
        """Refresh as Letta does: delete tools, and read only 50 of the organization."""
        try:
            live = {tool["name"]: tool for tool in self.list_live_tools(entry)}
        except UnreachableError as error:
            raise RequestRefusedError(
                404,
                {
                    "code": "MCPServerUnavailable",
                    "message": f"Could not connect to MCP server {entry.server_name} to"
                    " resync tools",
                    "error": str(error),
                },
            ) from error
        seen = self.page(_MAX_REFRESHED_TOOLS, ascending=True)
        owned = {tool.name: tool for tool in seen if _get_owner_id(tool) == entry.id}
        result: dict[str, list[str]] = {"deleted": [], "updated": [], "added": []}
        for name, tool in owned.items():
            if name not in live:
                self.delete_tool(tool.id)
                result["deleted"].append(name)
        for name, offered in live.items():
            if name in owned:
                schema = build_stored_schema(offered)
                if owned[name].json_schema != schema:
                    owned[name].json_schema = schema
                    owned[name].description = offered.get("description")
                    result["updated"].append(name)
            elif (offered["health"] or {}).get("status") != "INVALID":
                self.register(entry, offered)
                result["added"].append(name)
        return result


def _get_owner_id(tool: Tool) -> str | None:
    return tool.metadata_.get("mcp", {}).get("server_id")
