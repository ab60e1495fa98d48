"""Two schemas of one tool, compared."""

from __future__ import annotations

from typing import Any

from toolcast.diff.change import Change, ToolPair
from toolcast.diff.schemas.schema_changes import compare_tools
from toolcast.model.model import Toolset, ToolSpec, Workspace

__all__ = ["compared", "told"]

WORKSPACE = Workspace(root="", toolset_folders=(), targets=())
TOOLSET = Toolset(name="toy", title="Toy", folder="specs/toy", handlers="handlers")


def compared(
    before: Any, after: Any, field: str, toolset: Toolset = TOOLSET, **others: Any
) -> list[Change]:
    """What changes of a tool when only one of its schemas does; None is no schema."""
    old, new = (_tool({"parameters": {}, field: s}, others) for s in (before, after))
    both = ToolPair(old, new, toolset, toolset, WORKSPACE, WORKSPACE)
    return list(compare_tools(both))


def _tool(schemas: dict[str, Any], others: dict[str, Any]) -> ToolSpec:
    return ToolSpec(name="try", summary="Try.", fields=(), **schemas, **others)


def told(change: Change) -> str:
    """A change on one line: the name of its rule, the four grades, the message."""
    grades = " ".join(grade.word for grade in change.grades)
    return f"{change.rule.id.partition('/')[2]}, {grades}: {change.message}"
