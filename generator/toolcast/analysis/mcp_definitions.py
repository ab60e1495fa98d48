"""MCP definitions of tools, and what each protocol revision refuses of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcast_runtime.core.validation.protocol import (
    REVISIONS,
    Refusal,
    check_tool_definition,
    downgrade_definition,
)

from ..model.language_fields import get_mcp_members
from ..model.model import ToolSpec

_ASKS = "anthropic/requiresUserInteraction"
"""The key by which Claude Code (2.1.199 and newer) asks its user in every mode."""
_ALWAYS, _HINT = "anthropic/alwaysLoad", "anthropic/searchHint"
"""The keys by which clients that search among listed tools load one at once, and find one."""


def build_mcp_definition(tool: ToolSpec, *, has_hints: bool = False) -> dict[str, Any]:
    """The MCP tool object.

    Source: MCP 2026-07-28, server/tools. Keys stand in the order of the spec's fields; the
    description stands where the spec's `description` does, else where its `summary` does.
    A field that the spec does not have is absent, one that it sets to null is null. A tool that
    asks a person before every call tells clients that ask by themselves, in `_meta`; with
    `has_hints` those that search by themselves are told, too. One whose callers pick properties
    of results has a parameter more, and less that is required of these.
    """
    has_description = "description" in tool.fields
    values: dict[str, tuple[str, Any]] = {
        field: (member, getattr(tool, field))
        for member, field in get_mcp_members().items()
        if field != "description"
    }
    values["name"] = "name", tool.name
    values["parameters"] = "inputSchema", tool.listed_parameters
    values["returns"] = "outputSchema", tool.listed_returns
    if tool.result.send == "text":
        del values["returns"]
    values["icons"] = "icons", None if tool.icons is None else list(tool.icons)
    if "description" not in tool.mcp_omit:
        key = "description" if has_description else "summary"
        value = tool.description if has_description else tool.summary
        if tool.deprecation_notice:
            value = tool.model_description
        values[key] = ("description", value)
    definition: dict[str, Any] = {}
    for name in tool.fields:
        if name == "mcp":
            definition.update(tool.mcp_extra)
        elif name in values:
            key, value = values[name]
            definition[key] = value
    asks = tool.confirm is not None and tool.confirm.when is None
    told: dict[str, Any] = {_ASKS: True} if asks else {}
    if has_hints:
        told |= {_ALWAYS: True} if tool.always else {_HINT: tool.summary}
    if told:
        definition["_meta"] = {**told, **(tool.meta or {})}
    return definition


def list_refusals(definition: Mapping[str, Any]) -> dict[str, list[Refusal]]:
    """What is refused of a tool as it is listed, by the revisions that refuse anything."""
    old, new = REVISIONS
    shown = {old: downgrade_definition(definition), new: definition}
    found = {each: check_tool_definition(tool, each) for each, tool in shown.items()}
    return {revision: refusals for revision, refusals in found.items() if refusals}


def list_refused_paths(definition: Mapping[str, Any]) -> dict[str, list[str]]:
    """The places of `refusals_of`, which the generated tests expect."""
    return {
        revision: sorted({refusal.path_text for refusal in refusals})
        for revision, refusals in list_refusals(definition).items()
    }
