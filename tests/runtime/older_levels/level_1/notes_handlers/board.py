"""Notes of a board that forgets: what is called with is what is answered with."""

from __future__ import annotations

from typing import Any

from toolcast_runtime import ToolError

NOTES = ["The printer is back", "Lunch is at noon"]


def manage_note(
    *, action: str, text: str | None = None, number: int | None = None
) -> dict[str, Any]:
    """Says what it would have done."""
    if number is not None and number > len(NOTES):
        raise ToolError(f"there is no note {number}")
    return {"done": f"wrote: {text}" if action == "write" else f"removed {number}"}


async def find_notes(*, word: str, most: int = 10) -> dict[str, Any]:
    """The notes that have a word."""
    return {"notes": [note for note in NOTES if word in note.split()][:most]}
