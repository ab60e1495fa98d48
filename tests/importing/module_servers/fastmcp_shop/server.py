"""A FastMCP server with a lifespan, a Context, and functions that are registered in a function."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from fastmcp import Context, FastMCP


@contextlib.asynccontextmanager
async def open_shop(server: Any) -> AsyncIterator[dict[str, str]]:
    """Yield the state that the tools share."""
    yield {"currency": "EUR"}


mcp = FastMCP("Shop", version="1.2", instructions="Sells.", lifespan=open_shop)


@mcp.tool(annotations={"readOnlyHint": True})
def add(a: int, b: int = 2) -> int:
    """Add numbers."""
    return a + b


class Stock:
    """Items in stock."""

    def count(self, item: str) -> int:
        """Count an item."""
        return len(item)


def register_items(server: Any, currency: str) -> None:
    """Register functions that depend on the currency."""

    @server.tool
    async def price(item: str, ctx: Context) -> str:
        """Return a price."""
        await ctx.info(f"price of {item}")
        return f"{len(item)} {currency} {ctx.lifespan_context['currency']}"

    @server.resource("shop://items/{name}")
    def item(name: str) -> str:
        """Return an item."""
        return f"item {name}"

    @server.resource("shop://policy", mime_type="text/markdown")
    def policy() -> str:
        """Return the policy."""
        return "# Policy"

    @server.prompt
    def ask(topic: str) -> str:
        """Ask about a topic."""
        return f"What is {topic}?"


register_items(mcp, "EUR")
mcp.tool(Stock().count)

if __name__ == "__main__":
    mcp.run()
