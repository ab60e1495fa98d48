"""The limits of the clients that have a tool."""

from __future__ import annotations

from ...model.model import Toolset, ToolSpec
from ..client_limits import ClientLimit, Limited
from .client_kinds import callers, kind_of, limits_of

__all__ = ["limits_here"]


def limits_here(
    toolset: Toolset, tool: ToolSpec | None, limited: Limited
) -> tuple[ClientLimit, ...]:
    """The limits on one thing, each once, of the clients that have a tool.

    Args:
        tool: the tool; None for what every client has.
    """
    limits = (
        limit
        for client in callers(toolset)
        if tool is None or client is None or toolset.is_offered(tool, client)
        for limit in limits_of(kind_of(toolset, client), limited)
    )
    return tuple(dict.fromkeys(limits))
