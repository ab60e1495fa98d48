"""MCP resources and prompts: their definitions, contents, and content behind links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from ..core.toolset_settings import LinkLimits

__all__ = ["LinkLimits"]

__getattr__ = lazy_getattr(
    __name__,
    {
        "LinkLimits": "..core.toolset_settings",
    },
)
