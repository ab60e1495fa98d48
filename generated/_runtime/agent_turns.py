"""Calls that a Letta agent makes in a turn of its own.

The turn waits for the tool. A tool that sends the agent a message would wait for another turn
of the very agent, so such calls are refused before anything is done.
"""

from __future__ import annotations

from collections.abc import Mapping

from .call_context import CallContext
from .tool import Tool

__all__ = ["AGENT_HEADER", "calling_agent", "circular_refusal"]

AGENT_HEADER = "X-Agent-Id"
"""Letta sends it with each call that an agent makes."""


def calling_agent(headers: Mapping[str, str] | None) -> str | None:
    """The id of the agent that makes a call; None when none does, or nobody says so.

    Args:
        headers: those of the HTTP request, looked up whatever their case; None without HTTP.
    """
    return (headers.get(AGENT_HEADER) or None) if headers is not None else None


def circular_refusal(tool: Tool, context: CallContext) -> str | None:
    """Why a call must not be made; None when it may.

    Whichever agent calls: a chain of two agents that call each other ends no better.
    """
    if not tool.calls_agent_loop or context.agent is None:
        return None
    return (
        f"`{tool.name}` sends a message to an agent, and this call is made in an agent's turn:"
        " the two would wait for each other. Nothing was done. Answer without it."
    )
