"""What the rules of the family `data` share."""

from __future__ import annotations

from ...findings import Finding
from ...model.model import Toolset, ToolSpec, Workspace
from ...python_code.call_graph import Touched, reached_from
from ..rule import Rule

__all__ = ["at_data", "declared", "touched_of", "wrong_pool"]


def touched_of(
    workspace: Workspace, toolset: Toolset, tool: ToolSpec
) -> tuple[Touched, ...]:
    """The tables that a tool's handler names; empty when it cannot be read."""
    reach = reached_from(workspace, toolset, tool)
    return reach.touched if reach else ()


def wrong_pool(toolset: Toolset, touched: Touched) -> str | None:
    """The pool that has the table, where it is queried through another pool; else None."""
    if not touched.pools:
        return None
    homes = [pool for pool, tables in toolset.pools.items() if touched.table in tables]
    return homes[0] if homes and touched.pools.isdisjoint(homes) else None


def declared(tool: ToolSpec) -> dict[str, set[str]]:
    """The tables that a spec declares, each with the keys of `data` that name it."""
    found: dict[str, set[str]] = {}
    for key in ("reads", "writes", "destroys"):
        for table in (tool.data or {}).get(key, ()):
            found.setdefault(table, set()).add(key)
    return found


def at_data(rule: Rule, tool: ToolSpec, message: str, help_: str) -> Finding:
    """A finding at a tool's `data`, or at its handler when it has none."""
    path = ("data",) if tool.data is not None else ("handler",)
    return rule.at(tool, path, message, help_, at_key=tool.data is not None)
