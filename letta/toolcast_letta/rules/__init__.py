"""The rules `letta/...`, a module each, and what they share."""

from __future__ import annotations

from collections.abc import Sequence

from toolcast.model.model import Toolset, ToolSpec, Workspace
from toolcast.python_code.call_graph import Noted, Reached, reached_from
from toolcast.targets.table import enabled

from ..config import facts_of, has_settings, offered_to_letta
from ..handler_code.sending_places import SendingPlaces
from ..handler_code.tool_calls import ANY_TOOL

__all__ = [
    "LIMITS",
    "attaches",
    "facts_of",
    "has_target",
    "reach",
    "registered",
    "said",
    "senders",
]

LIMITS = (
    " What the text does not show is not found: an address that is put together from data or"
    " from a parameter, a module that is imported by a computed name, a program that is"
    " started."
)
"""What the rules about messages cannot see, for their explanations."""


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


def senders(workspace: Workspace, toolset: Toolset) -> dict[str, Noted]:
    """The tools whose handlers send the agent a message, each with the first place.

    By themselves, or by calling another one of the toolset's tools that does, by its present
    or a former name.
    """
    noted: dict[str, tuple[Noted, ...]] = {}
    present: dict[str, str] = {}
    for tool in toolset.tools:
        reached = reach(workspace, toolset, tool)
        noted[tool.name] = reached.noted if reached else ()
        present |= dict.fromkeys((*tool.renamed_from, tool.name), tool.name)
    found = {
        name: one
        for name, places in noted.items()
        for one in [next((place for place in places if not place.tools), None)]
        if one is not None
    }
    sending = {*found} | {
        tool.name for tool in toolset.tools if facts_of(tool).get("calls_agent_loop")
    }
    is_growing = True
    while is_growing:
        is_growing = False
        for name, places in noted.items():
            for place in () if name in found else places:
                called = {present.get(tool, tool) for tool in place.tools}
                if sending and (ANY_TOOL in called or called & sending):
                    found[name] = place
                    is_growing = is_growing or name not in sending
                    sending.add(name)
                    break
    return found


def said(sent: Noted) -> str:
    """What a place does, in words that follow on where it is."""
    shown = f"`{sent.text[:80]}`"
    if not sent.tools:
        return f"sends a message into the agent's loop: {shown}"
    if ANY_TOOL in sent.tools:
        return f"may call any tool, those among them that message the agent: {shown}"
    return f"calls a tool that sends a message into the agent's loop: {shown}"
