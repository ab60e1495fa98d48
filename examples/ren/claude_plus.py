"""Handler of get_claude_plus_blocks."""

from __future__ import annotations

from typing import Any

from .core_memory import list_blocks

__all__ = ["get_claude_plus_blocks"]

PREFIX = "claude_plus"


def get_claude_plus_blocks() -> dict[str, Any]:
    """Return the core-memory blocks that are for Claude.

    Raises:
        ToolError: Letta fails.
    """
    return {
        "blocks": [
            {
                "label": block.label,
                "value": block.value,
                "description": block.description,
            }
            for block in list_blocks()
            if block.label.startswith(PREFIX)
        ]
    }
