"""One room, for an hour."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any


def book_room(*, start: datetime) -> dict[str, Any]:
    """Says when it is free again."""
    return {"ends": start + timedelta(hours=1)}
