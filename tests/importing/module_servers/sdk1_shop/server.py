"""A server of version 1 of the official SDK."""

from __future__ import annotations

from typing import Any

from mcp.server.fastmcp import Context, FastMCP

mcp = FastMCP("Shop", instructions="Sells.")


@mcp.tool()
async def price(item: str, ctx: Context[Any, Any, Any]) -> str:
    """Return a price."""
    await ctx.info(item)
    return f"{len(item)} EUR"


@mcp.resource("shop://items/{item}")
def item(item: str) -> str:
    """Return an item."""
    return f"item {item}"


@mcp.resource("shop://policy", mime_type="text/markdown")
def policy() -> str:
    """Return the policy."""
    return "# Policy"


@mcp.prompt()
def ask(topic: str) -> str:
    """Ask about a topic."""
    return f"What is {topic}?"


if __name__ == "__main__":
    mcp.run()
