"""What the mixed tools do, the same for every server."""

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
    """There is no such visit; the text is for the caller."""


def get_visit(visit_id: int) -> str:
    """Tells when a visit is."""
    return f"visit {visit_id} is at nine"


async def find_visits(day: str, limit: int = 20) -> list[dict[str, object]]:
    """Lists the visits of a day."""
    return [{"visit_id": n, "start": f"{day}T09:00:00Z"} for n in range(limit)]


async def wait_for_room(room: str) -> str:
    """Waits until a room is free: a tool that waits for others."""
    await asyncio.sleep(0.1)
    return f"{room} is free"


def print_label(visit_id: int) -> str:
    """Prints a label: a plain function that waits for others."""
    time.sleep(0.05)
    return f"label {visit_id} is printed"


def add_note(visit_id: int, text: str) -> str:
    """Adds a note to a visit."""
    return f"visit {visit_id} has {len(text)} more characters"


def export_visits(days: int) -> str:
    """Gives a table of the visits of some days: a large answer."""
    return _TABLE


def cancel_visit(visit_id: int) -> str:
    """Cancels a visit: there is none, and the caller is told."""
    raise NoSuchVisitError(f"there is no visit {visit_id}")
