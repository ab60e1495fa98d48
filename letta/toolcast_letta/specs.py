"""What the specs of a toolset say of Letta."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcast.extension_api import Toolset, ToolSpec, mcp_definition

from .definition_part import build_definition_part, is_changing_data
from .plan.desired_state import DesiredState, DesiredTool, build_desired_state
from .settings import LettaAgent, LettaBlock, LettaServer, LettaSettings


def get_letta_fields(tool: ToolSpec) -> Mapping[str, Any]:
    """The `letta` of a tool; empty when its spec has none."""
    facts: Mapping[str, Any] = tool.extensions.get("letta", {})
    return facts


def has_settings(toolset: Toolset) -> bool:
    """Whether the toolset has a `letta`."""
    return "letta" in toolset.extensions


def build_settings(toolset: Toolset) -> LettaSettings:
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
            _build_agent(name, body) for name, body in value.get("agents", {}).items()
        ),
        **plain,
    )


def _build_agent(name: str, body: Mapping[str, Any]) -> LettaAgent:
    plain = {key: body[key] for key in ("id", "id_env", "type") if key in body}
    return LettaAgent(
        name,
        **plain,
        expects=tuple(body.get("expects", ())),
        ends_turn=tuple(body.get("ends_turn", ())),
        forbids={entry["name"]: entry["reason"] for entry in body.get("forbids", ())},
        blocks=tuple(LettaBlock(**entry) for entry in body.get("blocks", ())),
    )


def list_offered_tools(toolset: Toolset) -> list[ToolSpec]:
    """The tools that the MCP server shows Letta, in order."""
    tools = list(toolset.tools_in("mcp"))
    if not toolset.clients:
        return tools
    client = toolset.client(build_settings(toolset).server.client or "")
    if client is None:
        return []
    return [tool for tool in tools if toolset.is_offered(tool, client)]


def can_change_data(tool: ToolSpec) -> bool:
    """Whether the spec says that a call changes something."""
    return is_changing_data(_collect_spec_fields(tool))


def build_tool_part(toolset: Toolset, tool: ToolSpec) -> dict[str, Any]:
    """What the tool's definition says of Letta; see `definition_part`."""
    declared = {e.tool: e.reason for e in toolset.exclusions if e.target == "letta"}
    return build_definition_part(_collect_spec_fields(tool), declared.get(tool.name))


def _collect_spec_fields(tool: ToolSpec) -> dict[str, Any]:
    """Return the fields of a tool's spec by which its part of the definition is made."""
    fields = {
        "letta": get_letta_fields(tool),
        "annotations": tool.annotations,
        "data": tool.data,
        "confirm": tool.confirm,
    }
    return {key: value for key, value in fields.items() if value is not None}


def find_omission_reason(toolset: Toolset, tool: ToolSpec) -> str | None:
    """Why a tool is not attached; None when it is."""
    part = build_tool_part(toolset, tool)
    return None if part["attached"] else part.get("reason", "it is not attached")


def build_desired_state_from_specs(
    toolset: Toolset, environment: Mapping[str, str], *, server_url: str | None = None
) -> DesiredState:
    """What a toolset wants to be in Letta.

    Raises:
        MissingSettingError: the environment lacks something that the specs leave to it.
    """
    offered = {tool.name for tool in list_offered_tools(toolset)}
    tools = (
        DesiredTool(
            tool.name,
            mcp_definition(tool).get("description") or "",
            tool.listed_parameters,
            build_tool_part(toolset, tool),
            tool.name in offered,
            tuple(example.as_json for example in tool.examples),
            tool.renamed_from,
        )
        for tool in toolset.tools
    )
    return build_desired_state(
        build_settings(toolset), tools, environment, server_url=server_url
    )
