"""Functions that are registered in functions."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer


def register_catalog(server: MCPServer) -> None:
    """Register functions of the catalog."""

    @server.tool(description="Find items.")
    def find(query: str, limit: int = 10) -> list[str]:
        return [query][:limit]

    @server.resource("shop://items/{item}")
    def item(item: str) -> str:
        """Return an item."""
        return f"item {item}"


def register_prices(server: MCPServer, currency: str) -> None:
    """Register functions that depend on the currency."""

    @server.tool()
    def price(item: str) -> str:
        """Return a price."""
        return f"{len(item)} {currency}"
