"""The rules `letta/...`, a module each, and what they share."""

from __future__ import annotations

from collections.abc import Sequence

from toolcast.handler_code.call_graph import Reached, reached_from
from toolcast.model.model import Toolset, ToolSpec, Workspace
from toolcast.targets.table import enabled

from ..config import facts_of, has_settings, offered_to_letta
from ..handler_code.sending_places import SendingPlaces

__all__ = ["attaches", "facts_of", "has_target", "reach", "registered"]


def has_target(toolset: Toolset, workspace: Workspace) -> bool:
    """Whether the target `letta` is enabled."""
    chosen = enabled(tuple(toolset.targets), workspace.extensions)
    return "letta" in {target.name for target in chosen}


def attaches(toolset: Toolset) -> bool:
    """Whether any tool of a toolset is attached to Letta agents."""
    return any(facts_of(tool).get("attached") for tool in toolset.tools)


def registered(toolset: Toolset) -> Sequence[ToolSpec]:
    """The tools that Letta registers when it gets to know the toolset's server.

    Those that the server offers it, attached or not; all of them when the toolset does not
    say whom the server takes Letta for.
    """
    return offered_to_letta(toolset) if has_settings(toolset) else toolset.tools


def reach(workspace: Workspace, toolset: Toolset, tool: ToolSpec) -> Reached | None:
    """What a tool's handler reaches, with the places that send an agent a message."""
    return reached_from(workspace, toolset, tool, SendingPlaces)
