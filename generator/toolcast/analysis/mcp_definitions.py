"""MCP definitions of tools, and the parts of them that protocol versions reject."""

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
from ..model.toolset_parts import PromptSpec, ResourceSpec
from .uri_templates import list_variables

_REQUIRES_INTERACTION = "anthropic/requiresUserInteraction"
"""Key with which Claude Code (2.1.199 and newer) confirms each call in every mode."""
_ALWAYS_LOAD = "anthropic/alwaysLoad"
"""Key of tools that clients with tool search load in advance."""
_SEARCH_HINT = "anthropic/searchHint"
"""Key of the text by which clients with tool search find a tool."""


def list_handler_arguments(
    spec: ResourceSpec | PromptSpec,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a handler's arguments: all, and the required ones.

    Arguments of a resource are the variables of its URI template, which are all required.
    """
    if isinstance(spec, ResourceSpec):
        variables = list_variables(spec.uri_template or "")
        return variables, variables
    names = tuple(argument.name for argument in spec.arguments)
    return names, tuple(a.name for a in spec.arguments if a.required)


def build_mcp_definition(tool: ToolSpec, *, has_hints: bool = False) -> dict[str, Any]:
    """Return the MCP tool object of a tool.

    Source: MCP 2026-07-28, server/tools. The keys have the order of the spec's fields;
    `description` comes from the spec's `description`, else from its `summary`. Fields that the
    spec omits are absent, and fields that it sets to null are null. If callers can select
    properties of results, the input schema has a further parameter, and the output schema
    fewer required properties. `_meta` marks a tool that needs a confirmation before every
    call for clients that request it themselves.

    Args:
        tool: the tool.
        has_hints: whether `_meta` contains the keys for clients with their own tool search.
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
        # A result sent as text has no structured content that a schema could describe.
        del values["returns"]
    values["icons"] = "icons", None if tool.icons is None else list(tool.icons)
    if "description" not in tool.mcp_omit:
        field = "description" if has_description else "summary"
        text = tool.description if has_description else tool.summary
        if tool.deprecation_notice:
            text = tool.model_description
        values[field] = ("description", text)
    definition: dict[str, Any] = {}
    for name in tool.fields:
        if name == "mcp":
            definition.update(tool.mcp_extra)
        elif name in values:
            key, value = values[name]
            definition[key] = value
    meta: dict[str, Any] = {}
    if tool.confirm is not None and tool.confirm.when is None:
        meta[_REQUIRES_INTERACTION] = True
    if has_hints:
        meta |= {_ALWAYS_LOAD: True} if tool.always else {_SEARCH_HINT: tool.summary}
    if meta:
        # Entries of the spec override generated ones, except the confirmation: an imported
        # entry must not disable it.
        definition["_meta"] = {**meta, **(tool.meta or {})}
        if _REQUIRES_INTERACTION in meta:
            definition["_meta"][_REQUIRES_INTERACTION] = True
    return definition


def list_refusals(definition: Mapping[str, Any]) -> dict[str, list[Refusal]]:
    """Return the parts of a definition that MCP rejects, by protocol version.

    Versions that accept the definition are omitted.
    """
    old, new = REVISIONS
    listed = {old: downgrade_definition(definition), new: definition}
    refusals = {
        revision: check_tool_definition(tool, revision)
        for revision, tool in listed.items()
    }
    return {revision: found for revision, found in refusals.items() if found}


def list_refused_paths(definition: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the sorted paths of the parts that MCP rejects, by protocol version.

    The generated tests expect these paths; see `list_refusals`.
    """
    return {
        revision: sorted({refusal.path_text for refusal in refusals})
        for revision, refusals in list_refusals(definition).items()
    }
