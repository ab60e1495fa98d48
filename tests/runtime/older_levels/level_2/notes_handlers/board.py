"""Notes of a board that forgets: what is called with is what is answered with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from toolcast_runtime import ToolError


class Board:
    """The notes that are up."""

    notes = ("The printer is back", "Lunch is at noon")


@asynccontextmanager
async def lifespan() -> AsyncIterator[dict[str, Any]]:
    """The board of a process."""
    yield {"board": Board()}


def manage_note(
    *, action: str, text: str | None = None, number: int | None = None
) -> dict[str, Any]:
    """Says what it would have done."""
    if number is not None and number > len(Board.notes):
        raise ToolError(f"there is no note {number}")
    return {"done": f"wrote: {text}" if action == "write" else f"removed {number}"}


async def find_notes(*, word: str, most: int = 10, board: Board) -> dict[str, Any]:
    """The notes that have a word."""
    return {"notes": [note for note in board.notes if word in note.split()][:most]}
