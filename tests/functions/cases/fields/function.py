from typing import Literal

from pydantic import Field


def find_items(
    query: str = Field(description="What to find.", examples=["shoes"]),
    limit: int = Field(10, ge=1, le=50, description="How many."),
    sort: Literal["price", "name"] = Field(default="name", description="The order."),
    tags: list[str] = Field(default_factory=list, description="Tags."),  # noqa: B008
    note: str | None = Field(None, description="A note."),
) -> list[str]:
    """Find items."""
    return [query, str(limit), sort, *tags, str(note)]
