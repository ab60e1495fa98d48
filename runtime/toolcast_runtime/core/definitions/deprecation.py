"""What is said of a deprecated tool: in its description, the prompt docs, its help, the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def deprecation_line(deprecated: Mapping[str, Any]) -> str:
    """`Deprecated, and removed on 2030-01-31: use save_note instead. It is slow.`

    Args:
        deprecated: what the tool's spec says, and its definition.
    """
    removal, instead = deprecated.get("removal"), deprecated.get("replacement")
    line = f"Deprecated, and removed on {removal}" if removal else "Deprecated"
    line += f": use {instead} instead." if instead else "."
    reason = " ".join(deprecated.get("reason", "").split())
    return f"{line} {reason}" if reason else line
