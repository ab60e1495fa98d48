"""FastMCP 4 server of the four tools."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, datetime
from typing import Annotated

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from pydantic import Field
from typing_extensions import TypedDict
from work import insert_visit, list_day, list_visits, open_database, refund


class Visit(TypedDict):
    visit_id: int
    start: datetime


@asynccontextmanager
async def lifespan(server: FastMCP) -> AsyncIterator[dict[str, object]]:
    db = open_database()
    try:
        yield {"db": db}
    finally:
        db.close()


mcp = FastMCP("visits", lifespan=lifespan, strict_input_validation=True)


@mcp.tool(annotations={"readOnlyHint": True})
def search_visits(
    ctx: Context,
    day: Annotated[date | None, Field(description="Only visits of this day.")] = None,
    limit: Annotated[int, Field(ge=1, le=100, description="Maximum number.")] = 20,
) -> list[Visit]:
    """List visits."""
    return list_visits(ctx.lifespan_context["db"], day, limit)


@mcp.tool
def book_visit(
    ctx: Context, start: Annotated[datetime, Field(description="The start time.")]
) -> Visit:
    """Book a visit."""
    return {"visit_id": insert_visit(ctx.lifespan_context["db"], start), "start": start}


@mcp.tool(annotations={"destructiveHint": True})
async def refund_visit(
    ctx: Context,
    visit_id: Annotated[int, Field(description="The visit.")],
    cents: Annotated[int, Field(ge=1, description="The amount in cents.")],
) -> str:
    """Refund a part of a visit's price."""
    answer = await ctx.elicit(f"Pay {cents} cents back for visit {visit_id}?", bool)
    if answer.action != "accept" or not answer.data:
        raise ToolError("The user declined.")
    if not refund(ctx.lifespan_context["db"], visit_id, cents):
        raise ToolError(f"Visit {visit_id} did not cost that much.")
    return f"{cents} cents are paid back."


@mcp.tool(annotations={"readOnlyHint": True})
async def export_visits(
    ctx: Context,
    first: Annotated[date, Field(description="The first day.")],
    days: Annotated[int, Field(ge=1, le=366, description="Number of days.")],
) -> str:
    """Return a table of the visits of some days."""
    lines = ["visit,start"]
    for number in range(days):
        lines += list_day(ctx.lifespan_context["db"], first, number)
        await ctx.report_progress(number + 1, days)
    return "\n".join(lines)


if __name__ == "__main__":
    if "--http" in sys.argv:
        mcp.run("http", port=int(sys.argv[-1]), path="/mcp", show_banner=False)
    else:
        mcp.run("stdio", show_banner=False)
