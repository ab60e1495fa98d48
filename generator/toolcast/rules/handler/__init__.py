"""How findings about handlers' code name the line, and the way to it."""

from __future__ import annotations

from collections.abc import Sequence

from toolcast_letta.config import offered_to_letta

from ...handler_code.call_graph import Step
from ...model.model import Toolset, ToolSpec

__all__ = ["attaches", "place", "registered", "way_to"]


def place(file: str, line: int) -> str:
    """`file:line`."""
    return f"{file}:{line}"


def way_to(way: Sequence[Step]) -> str:
    """The calls from the handler to a function; empty for the handler itself."""
    if len(way) < 2:
        return ""
    calls = [f"`{step.name}` ({place(step.file, step.line)})" for step in way[:-1]]
    return f", by way of {' -> '.join([*calls, f'`{way[-1].name}`'])}"


def attaches(toolset: Toolset) -> bool:
    """Whether any tool of a toolset is attached to Letta agents."""
    return any((tool.letta or {}).get("attached") for tool in toolset.tools)


def registered(toolset: Toolset) -> Sequence[ToolSpec]:
    """The tools that Letta registers when it gets to know the toolset's server.

    Those that the server offers it, attached or not; all of them when the toolset does not
    say whom the server takes Letta for.
    """
    return toolset.tools if toolset.letta is None else offered_to_letta(toolset)
