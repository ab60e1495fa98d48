"""The entries of MCP servers, and how their tools get into the registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .mcp_side import HttpServer, McpSide, UnreachableError
from .refused import RequestRefusedError
from .registry import Registry
from .rows import Entry, Tool
from .schemas import health, normalized, stored_schema

__all__ = ["Entries"]

_REFRESH_LOOKS_AT = 50


class Entries(Registry):
    """A registry, and the MCP servers that it takes tools from.

    Attributes:
        servers: those that can be reached, by URL; others are asked over HTTP.
        mcp_tools: the ids of an entry and of a tool that it registered.
    """

    def __init__(self) -> None:
        super().__init__()
        self.servers: dict[str, McpSide] = {}
        self.entries: dict[str, Entry] = {}
        self.mcp_tools: list[tuple[str, str]] = []

    def delete_tool(self, tool_id: str) -> None:
        """Deletes a row; no entry has it any longer."""
        super().delete_tool(tool_id)
        self.mcp_tools = [pair for pair in self.mcp_tools if pair[1] != tool_id]

    def entry_named(self, name: str) -> Entry | None:
        """The entry of a name."""
        return next((e for e in self.entries.values() if e.server_name == name), None)

    def reach(self, config: Mapping[str, Any]) -> McpSide:
        """The server behind a configuration."""
        url = config.get("server_url")
        if not isinstance(url, str):
            raise RequestRefusedError(
                501, "this fake speaks to MCP servers at URLs only"
            )
        return self.servers.get(url) or HttpServer(url)

    def live_tools(
        self, entry: Entry, secrets: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """The server's first page, normalized and judged.

        Raises:
            UnreachableError: it does not answer.
        """
        headers = entry.headers(secrets or {})
        listed = self.reach(entry.config).list_tools(headers)
        for tool in listed:
            tool.setdefault("health", None)
            if tool.get("inputSchema"):
                tool["inputSchema"] = normalized(tool["inputSchema"])
                status, reasons = health(tool["inputSchema"])
                tool["health"] = {"status": status, "reasons": reasons}
        return listed

    def register(self, entry: Entry, live: dict[str, Any]) -> Tool:
        """Upserts one live tool as the entry's."""
        owner = {"server_name": entry.server_name, "server_id": entry.id}
        tool = self.upsert(
            live["name"],
            tool_type="external_mcp",
            description=live.get("description"),
            json_schema=stored_schema(live),
            tags=[f"mcp:{entry.server_name}"],
            metadata_={"mcp": owner},
            source_code=f"def {live['name']}(**kwargs):\n    raise RuntimeError()",
        )
        self.mcp_tools.append((entry.id, tool.id))
        return tool

    def create_entry(self, name: str, config: dict[str, Any]) -> Entry:
        """Creates an entry and registers its tools; an unreachable server is no error."""
        if self.entry_named(name) is not None:
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
            listed = self.live_tools(entry)
        except UnreachableError:
            return entry
        for live in listed:
            if (live["health"] or {}).get("status") == "INVALID":
                continue
            try:
                self.register(entry, live)
            except RequestRefusedError:
                # Letta notes it in its log and goes on.
                continue
        return entry

    def update_entry(self, entry: Entry, name: str | None, config: Any) -> Entry:
        """Changes an entry; a new token is accepted and not taken."""
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
        """Deletes an entry with the tools that are its own by now."""
        for tool in list(self.tools.values()):
            if _owner(tool) == entry.id:
                self.delete_tool(tool.id)
        self.mcp_tools = [pair for pair in self.mcp_tools if pair[0] != entry.id]
        del self.entries[entry.id]

    def refresh(self, entry: Entry) -> dict[str, list[str]]:
        """Letta's refresh: destructive, and blind beyond 50 tools of the organisation."""
        try:
            live = {tool["name"]: tool for tool in self.live_tools(entry)}
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
        seen = self.page(_REFRESH_LOOKS_AT, ascending=True)
        mine = {tool.name: tool for tool in seen if _owner(tool) == entry.id}
        result: dict[str, list[str]] = {"deleted": [], "updated": [], "added": []}
        for name, tool in mine.items():
            if name not in live:
                self.delete_tool(tool.id)
                result["deleted"].append(name)
        for name, offered in live.items():
            if name in mine:
                schema = stored_schema(offered)
                if mine[name].json_schema != schema:
                    mine[name].json_schema = schema
                    mine[name].description = offered.get("description")
                    result["updated"].append(name)
            elif (offered["health"] or {}).get("status") != "INVALID":
                self.register(entry, offered)
                result["added"].append(name)
        return result


def _owner(tool: Tool) -> str | None:
    return tool.metadata_.get("mcp", {}).get("server_id")
