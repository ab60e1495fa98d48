"""Comparison of two schemas of one tool."""

from __future__ import annotations

from typing import Any

from toolcast.diff.change import Change, ToolPair
from toolcast.diff.schemas.schema_changes import compare_tools
from toolcast.model.model import Toolset, ToolSpec, Workspace

WORKSPACE = Workspace(root="", toolset_folders=(), targets=())
TOOLSET = Toolset(name="toy", title="Toy", folder="specs/toy", handlers="handlers")


def compare_schemas(
    before: Any, after: Any, field: str, toolset: Toolset = TOOLSET, **settings: Any
) -> list[Change]:
    """Return the changes of a tool if only the schema of one field changes.

    A schema is None if there is none; `settings` are other fields of the tool.
    """
    schemas = ({"parameters": {}, field: schema} for schema in (before, after))
    old, new = (_build_tool(fields, settings) for fields in schemas)
    tools = ToolPair(old, new, toolset, toolset, WORKSPACE, WORKSPACE)
    return list(compare_tools(tools))


def _build_tool(schemas: dict[str, Any], settings: dict[str, Any]) -> ToolSpec:
    return ToolSpec(name="try", summary="Try.", fields=(), **schemas, **settings)


def format_change(change: Change) -> str:
    """Format a change on one line: the name of its rule, the four grades, the message."""
    grades = " ".join(grade.label for grade in change.grades)
    return f"{change.rule.id.partition('/')[2]}, {grades}: {change.message}"
