"""Implementation of the mixed tools, shared by all servers."""

from __future__ import annotations

import asyncio
import time

__all__ = [
    "NoSuchVisitError",
    "add_note",
    "cancel_visit",
    "export_visits",
    "find_visits",
    "get_visit",
    "print_label",
    "wait_for_room",
]

_TABLE = "visit,start\n" + "".join(
    f"{number},2026-11-23T09:00:00Z\n" for number in range(2_500)
)


class NoSuchVisitError(Exception):
    """The visit does not exist; the message is for the caller."""


def get_visit(visit_id: int) -> str:
    """Return the time of a visit."""
    return f"visit {visit_id} is at nine"


async def find_visits(day: str, limit: int = 20) -> list[dict[str, object]]:
    """List the visits of a day."""
    return [{"visit_id": n, "start": f"{day}T09:00:00Z"} for n in range(limit)]


async def wait_for_room(room: str) -> str:
    """Wait until a room is free: an async tool that waits for I/O."""
    await asyncio.sleep(0.1)
    return f"{room} is free"


def print_label(visit_id: int) -> str:
    """Print a label: a plain function that waits for I/O."""
    time.sleep(0.05)
    return f"label {visit_id} is printed"


def add_note(visit_id: int, text: str) -> str:
    """Add a note to a visit."""
    return f"visit {visit_id} has {len(text)} more characters"


def export_visits(days: int) -> str:
    """Return a table of the visits of some days: a large result."""
    return _TABLE


def cancel_visit(visit_id: int) -> str:
    """Cancel a visit; it does not exist, so the call always fails."""
    raise NoSuchVisitError(f"there is no visit {visit_id}")
