"""A server of the official SDK with functions at module level only."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer

mcp = MCPServer("Plain", version="1")


@mcp.tool()
def add(a: int, b: int = 2) -> int:
    """Add numbers."""
    return a + b


@mcp.resource("plain://policy")
def policy() -> str:
    """Return the policy."""
    return "policy"
