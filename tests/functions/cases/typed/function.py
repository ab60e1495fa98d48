from collections.abc import Sequence
from typing import Literal


def find_places(
    near: Sequence[float],
    kinds: Sequence[Literal["café", "bar"]] = ("bar",),
    limit: int | None = None,
) -> list[dict[str, str]]:
    """Find places near a point.

    Args:
        near: Latitude and longitude.
        kinds: Which kinds of places.
        limit: How many at most.
    """
    return [{"kind": kind, "at": str(list(near))} for kind in kinds][:limit]
