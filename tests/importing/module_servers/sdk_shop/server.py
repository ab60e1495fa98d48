"""A server of the official SDK with a lifespan and differently registered functions."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from .catalog import register_catalog, register_prices

READ_ONLY = ToolAnnotations(read_only_hint=True)


class Order(BaseModel):
    """An order."""

    item: str
    count: int = 1


@contextlib.asynccontextmanager
async def open_shop(server: Any) -> AsyncIterator[dict[str, str]]:
    """Yield the state that the tools share."""
    yield {"currency": "EUR"}


mcp = MCPServer("Shop", version="1.2", instructions="Sells.", lifespan=open_shop)


@mcp.tool(annotations=READ_ONLY)
def add(a: int, b: int = 2) -> int:
    """Add numbers."""
    return a + b


@mcp.tool()
async def order(order: Order, ctx: Context[Any, Any], note: str | None = None) -> Order:
    """Order an item."""
    await ctx.info(f"ordered {order.item}")
    return Order(item=order.item, count=order.count + 1)


@mcp.tool(annotations=READ_ONLY)
def currency(ctx: Context[Any, Any]) -> str:
    """Return the currency."""
    return str(ctx.request_context.lifespan_context["currency"])


@mcp.tool()
def renamed(size: Annotated[int, Field(ge=1, description="The size.")] = 1) -> str:
    """Return a text."""
    return "x" * size


@mcp.resource("shop://policy", mime_type="text/markdown")
def policy() -> str:
    """Return the policy."""
    return "# Policy"


@mcp.prompt()
def review(item: str, tone: str = "plain") -> str:
    """Review an item."""
    return f"Review {item}, {tone}."


@mcp.prompt()
def greeting() -> str:
    """Greet."""
    return "Hello."


class Stock:
    """Items in stock."""

    def count(self, item: str) -> int:
        """Count an item."""
        return len(item)


mcp.add_tool(Stock().count)
register_catalog(mcp)
register_prices(mcp, "EUR")

if __name__ == "__main__":
    mcp.run()
