"""What a toolset wants to be in Letta, derived from its specs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcast.facts.tool_lists import mcp_definition
from toolcast.model.model import Toolset, ToolSpec

from .plan.desired_state import DesiredState, ToolFacts, desired_state
from .settings import LettaServer, LettaSettings, bind_letta

_DEFAULT_REASON = "It calls the agent's own loop."


def facts_of(tool: ToolSpec) -> Mapping[str, Any]:
    """The `letta` of a tool; empty when its spec has none."""
    facts: Mapping[str, Any] = tool.extensions.get("letta", {})
    return facts


def has_settings(toolset: Toolset) -> bool:
    """Whether the toolset has a `letta`."""
    return "letta" in toolset.extensions


def settings_of(toolset: Toolset) -> LettaSettings:
    """The toolset's settings; without any, an entry of its name and no agent."""
    if not has_settings(toolset):
        return LettaSettings(LettaServer(toolset.name), ())
    return bind_letta(toolset.extensions["letta"], toolset.name)


def offered_to_letta(toolset: Toolset) -> list[ToolSpec]:
    """The tools that the MCP server shows Letta, in order."""
    tools = list(toolset.tools_in("mcp"))
    if not toolset.clients:
        return tools
    client = toolset.client(settings_of(toolset).server.client or "")
    if client is None:
        return []
    return [tool for tool in tools if toolset.is_offered(tool, client)]


def changes_data(tool: ToolSpec) -> bool:
    """Whether the spec says that a call changes something."""
    data = tool.data or {}
    hints = tool.annotations or {}
    if data.get("writes") or data.get("destroys") or hints.get("destructiveHint"):
        return True
    return hints.get("readOnlyHint") is False


def tool_part(toolset: Toolset, tool: ToolSpec) -> dict[str, Any]:
    """What the tool's definition says of Letta: `attached`, or not and the `reason`.

    `ends_turn`, `requires_approval`, `calls_agent_loop` and `changes_data` are there when
    they are true. A tool with a `confirm` needs approval.
    """
    facts = facts_of(tool)
    declared = {e.tool: e.reason for e in toolset.exclusions if e.target == "letta"}
    is_attached = bool(facts.get("attached")) and tool.name not in declared
    part: dict[str, Any] = {"attached": is_attached}
    if not is_attached:
        default = _DEFAULT_REASON if facts.get("calls_agent_loop") else None
        reason = declared.get(tool.name) or facts.get("reason") or default
        if reason:
            part["reason"] = reason
    for key in ("ends_turn", "requires_approval", "calls_agent_loop"):
        if facts.get(key):
            part[key] = True
    if tool.confirm is not None:
        part["requires_approval"] = True
    if changes_data(tool):
        part["changes_data"] = True
    return part


def not_attached(toolset: Toolset, tool: ToolSpec) -> str | None:
    """Why a tool is not attached; None when it is."""
    part = tool_part(toolset, tool)
    return None if part["attached"] else part.get("reason", "it is not attached")


def desired_by_specs(
    toolset: Toolset, environment: Mapping[str, str], *, server_url: str | None = None
) -> DesiredState:
    """What a toolset wants to be in Letta.

    Raises:
        MissingSetting: the environment lacks something that the specs leave to it.
    """
    offered = {tool.name for tool in offered_to_letta(toolset)}
    tools = [
        ToolFacts(
            tool.name,
            tool_part(toolset, tool),
            tool.name in offered,
            mcp_definition(tool).get("description"),
            tool.parameters,
            tuple(example.as_json for example in tool.examples),
            tool.renamed_from,
        )
        for tool in toolset.tools
    ]
    settings = settings_of(toolset)
    return desired_state(
        toolset.name, settings, tools, environment, server_url=server_url
    )
