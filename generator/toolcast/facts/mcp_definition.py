"""A tool as MCP's `tools/list` shows it, key for key in the order of its spec."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..model.model import ToolSpec

__all__ = ["MEMBERS", "is_name_of_tool", "mcp_definition"]

MEMBERS: Mapping[str, str] = {
    "title": "title",
    "description": "description",
    "inputSchema": "parameters",
    "outputSchema": "returns",
    "annotations": "annotations",
    "icons": "icons",
    "_meta": "meta",
    "execution": "execution",
}
"""The members of an MCP tool beside its name, and the fields of specs that say them."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")

_ASKS = "anthropic/requiresUserInteraction"
"""The key by which Claude Code (2.1.199 and newer) asks its user in every mode."""


def mcp_definition(tool: ToolSpec) -> dict[str, Any]:
    """The MCP tool object.

    Source: MCP 2026-07-28, server/tools. Keys stand in the order of the spec's fields; the
    description stands where the spec's `description` does, else where its `summary` does.
    A field that the spec does not have is absent, one that it sets to null is null. A tool that
    asks a person before every call tells clients that ask by themselves, in `_meta`.
    """
    has_description = "description" in tool.fields
    values: dict[str, tuple[str, Any]] = {
        field: (member, getattr(tool, field))
        for member, field in MEMBERS.items()
        if field != "description"
    }
    values["name"] = "name", tool.name
    values["icons"] = "icons", None if tool.icons is None else list(tool.icons)
    if "description" not in tool.mcp_omit:
        key = "description" if has_description else "summary"
        value = tool.description if has_description else tool.summary
        if tool.shown_deprecation:
            value = tool.model_description
        values[key] = ("description", value)
    definition: dict[str, Any] = {}
    for name in tool.fields:
        if name == "mcp":
            definition.update(tool.mcp_extra)
        elif name in values:
            key, value = values[name]
            definition[key] = value
    if tool.confirm is not None and tool.confirm.when is None:
        definition["_meta"] = {_ASKS: True, **(tool.meta or {})}
    return definition


def is_name_of_tool(name: str) -> bool:
    """Whether a spec may have a tool's name."""
    return _NAME.fullmatch(name) is not None
