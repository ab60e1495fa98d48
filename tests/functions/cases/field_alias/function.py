from typing import Annotated

from pydantic import Field


def annotate(
    size: Annotated[int, Field(gt=0, description="In pixels.")] = Field(5, le=9),
    first: Annotated[str, Field(alias="from", description="Where.")] = "a",
) -> str:
    """Annotate."""
    return f"{first}{size}"
