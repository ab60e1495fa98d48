"""Build settings and the desired state for Letta from the specs of a toolset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcast.extension_api import Toolset, ToolSpec, build_mcp_definition

from .definition_part import build_definition_part, is_changing_data
from .plan.desired_state import DesiredState, DesiredTool, build_desired_state
from .settings import LettaAgent, LettaBlock, LettaServer, LettaSettings


def get_letta_fields(tool: ToolSpec) -> Mapping[str, Any]:
    """Return the `letta` object of a tool's spec; empty if it has none."""
    fields: Mapping[str, Any] = tool.extensions.get("letta", {})
    return fields


def has_settings(toolset: Toolset) -> bool:
    """Return whether the toolset has a `letta` object."""
    return "letta" in toolset.extensions


def build_settings(toolset: Toolset) -> LettaSettings:
    """Build the toolset's settings for Letta, with defaults for omitted fields.

    A toolset without a `letta` object gets a server entry with the toolset's name and
    no agents.
    """
    value = toolset.extensions.get("letta", {})
    options = {key: value[key] for key in ("backend", "on_start") if key in value}
    if "on_start_timeout_s" in value:
        options["on_start_timeout_s"] = float(value["on_start_timeout_s"])
    return LettaSettings(
        name=toolset.name,
        server=LettaServer(**{"name": toolset.name, **value.get("server", {})}),
        agents=tuple(
            _build_agent(name, body) for name, body in value.get("agents", {}).items()
        ),
        **options,
    )


def _build_agent(name: str, body: Mapping[str, Any]) -> LettaAgent:
    options = {key: body[key] for key in ("id", "id_env", "type") if key in body}
    return LettaAgent(
        name,
        **options,
        expects=tuple(body.get("expects", ())),
        ends_turn=tuple(body.get("ends_turn", ())),
        forbids={entry["name"]: entry["reason"] for entry in body.get("forbids", ())},
        blocks=tuple(LettaBlock(**entry) for entry in body.get("blocks", ())),
    )


def list_offered_tools(toolset: Toolset) -> list[ToolSpec]:
    """Return the tools that the MCP server offers to Letta, in the toolset's order.

    Without clients these are all tools; with clients, those that Letta's client may
    call. The list is empty if the toolset lacks Letta's client.
    """
    tools = list(toolset.list_target_tools("mcp"))
    if not toolset.clients:
        return tools
    client = toolset.find_client(build_settings(toolset).server.client or "")
    # The rule `letta/invalid-settings` reports a missing or unknown client.
    if client is None:
        return []
    return [tool for tool in tools if toolset.is_offered(tool, client)]


def can_change_data(tool: ToolSpec) -> bool:
    """Return whether the spec declares that a call changes data."""
    return is_changing_data(_collect_spec_fields(tool))


def build_tool_part(toolset: Toolset, tool: ToolSpec) -> dict[str, Any]:
    """Build the `letta` object of a tool's definition; see `build_definition_part`."""
    reasons = {
        exclusion.tool: exclusion.reason
        for exclusion in toolset.exclusions
        if exclusion.target == "letta"
    }
    return build_definition_part(_collect_spec_fields(tool), reasons.get(tool.name))


def _collect_spec_fields(tool: ToolSpec) -> dict[str, Any]:
    """Return the fields of a tool's spec that its `letta` object is derived from."""
    fields = {
        "letta": get_letta_fields(tool),
        "annotations": tool.annotations,
        "data": tool.data,
        "confirm": tool.confirm,
    }
    return {key: value for key, value in fields.items() if value is not None}


def find_omission_reason(toolset: Toolset, tool: ToolSpec) -> str | None:
    """Return why a tool is not attached to Letta agents; None if it is attached."""
    part = build_tool_part(toolset, tool)
    return None if part["attached"] else part.get("reason", "it is not attached")


def build_desired_state_from_specs(
    toolset: Toolset, environment: Mapping[str, str], *, server_url: str | None = None
) -> DesiredState:
    """Build the desired state of a toolset from its specs.

    Args:
        toolset: the toolset.
        environment: the environment variables; the specs can leave URL, token and ids
            to them.
        server_url: the MCP server's URL; overrides the specs.

    Raises:
        MissingSettingError: a required variable is not set.
    """
    offered = {tool.name for tool in list_offered_tools(toolset)}
    tools = (
        DesiredTool(
            tool.name,
            build_mcp_definition(tool).get("description") or "",
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
