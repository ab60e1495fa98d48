"""What the specs of a toolset say of Letta."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcast.extension_api import Toolset, ToolSpec, build_mcp_definition

from .definition_part import definition_part, is_changing_data
from .plan.desired_state import DesiredState, DesiredTool, desired_state
from .settings import LettaAgent, LettaBlock, LettaServer, LettaSettings


def facts_of(tool: ToolSpec) -> Mapping[str, Any]:
    """The `letta` of a tool; empty when its spec has none."""
    facts: Mapping[str, Any] = tool.extensions.get("letta", {})
    return facts


def has_settings(toolset: Toolset) -> bool:
    """Whether the toolset has a `letta`."""
    return "letta" in toolset.extensions


def settings_of(toolset: Toolset) -> LettaSettings:
    """The toolset's settings; without any, an entry of its name and no agent.

    What a spec leaves out has the default of the settings.
    """
    value = toolset.extensions.get("letta", {})
    plain = {key: value[key] for key in ("backend", "on_start") if key in value}
    if "on_start_patience" in value:
        plain["on_start_patience"] = float(value["on_start_patience"])
    return LettaSettings(
        name=toolset.name,
        server=LettaServer(**{"name": toolset.name, **value.get("server", {})}),
        agents=tuple(
            _agent(name, body) for name, body in value.get("agents", {}).items()
        ),
        **plain,
    )


def _agent(name: str, body: Mapping[str, Any]) -> LettaAgent:
    plain = {key: body[key] for key in ("id", "id_env", "type") if key in body}
    return LettaAgent(
        name,
        **plain,
        expects=tuple(body.get("expects", ())),
        ends_turn=tuple(body.get("ends_turn", ())),
        forbids={entry["name"]: entry["reason"] for entry in body.get("forbids", ())},
        blocks=tuple(LettaBlock(**entry) for entry in body.get("blocks", ())),
    )


def offered_to_letta(toolset: Toolset) -> list[ToolSpec]:
    """The tools that the MCP server shows Letta, in order."""
    tools = list(toolset.list_target_tools("mcp"))
    if not toolset.clients:
        return tools
    client = toolset.find_client(settings_of(toolset).server.client or "")
    if client is None:
        return []
    return [tool for tool in tools if toolset.is_offered(tool, client)]


def changes_data(tool: ToolSpec) -> bool:
    """Whether the spec says that a call changes something."""
    return is_changing_data(_spec(tool))


def tool_part(toolset: Toolset, tool: ToolSpec) -> dict[str, Any]:
    """What the tool's definition says of Letta; see `definition_part`."""
    declared = {e.tool: e.reason for e in toolset.exclusions if e.target == "letta"}
    return definition_part(_spec(tool), declared.get(tool.name))


def _spec(tool: ToolSpec) -> dict[str, Any]:
    """Return the fields of a tool's spec by which its part of the definition is made."""
    fields = {
        "letta": facts_of(tool),
        "annotations": tool.annotations,
        "data": tool.data,
        "confirm": tool.confirm,
    }
    return {key: value for key, value in fields.items() if value is not None}


def not_attached(toolset: Toolset, tool: ToolSpec) -> str | None:
    """Why a tool is not attached; None when it is."""
    part = tool_part(toolset, tool)
    return None if part["attached"] else part.get("reason", "it is not attached")


def desired_by_specs(
    toolset: Toolset, environment: Mapping[str, str], *, server_url: str | None = None
) -> DesiredState:
    """What a toolset wants to be in Letta.

    Raises:
        MissingSettingError: the environment lacks something that the specs leave to it.
    """
    offered = {tool.name for tool in offered_to_letta(toolset)}
    tools = (
        DesiredTool(
            tool.name,
            build_mcp_definition(tool).get("description") or "",
            tool.listed_parameters,
            tool_part(toolset, tool),
            tool.name in offered,
            tuple(example.as_json for example in tool.examples),
            tool.renamed_from,
        )
        for tool in toolset.tools
    )
    return desired_state(
        settings_of(toolset), tools, environment, server_url=server_url
    )
