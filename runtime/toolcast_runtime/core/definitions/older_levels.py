"""Definitions of older levels, as the newest one has them.

The one place that knows what older generated code says differently. Up to level 2 a definition
has its tool's finished bullet, `prompt.line`, which stays as it is, and `prompt.usage` only where
that says something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def at_newest_level(values: Mapping[str, Any], level: int) -> Mapping[str, Any]:
    """What a definition of the newest level says in its place.

    Args:
        values: what it says beside the tool as MCP lists it.
        level: the runtime level that its package was generated for.

    Raises:
        ValueError: it is not of this level.
        KeyError: likewise.
    """
    prompt = values.get("prompt")
    if prompt is None:
        return values
    if level > 2:
        if "line" in prompt:
            raise ValueError("was generated for an older level than its package")
        return values
    told = {"line": prompt["line"], "usage": prompt.get("usage", [])}
    return {**values, "prompt": told}
