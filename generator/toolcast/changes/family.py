"""A family of changes: its rules, and what finds such changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from ..model.model import Toolset, Workspace
from .change import Both, Change, ChangeRule, Grades
from .field_rows import FieldRow

__all__ = ["Family", "Rules"]


class Rules(list[ChangeRule]):
    """The rules of a family, in the order in which they are said."""

    def pair(
        self,
        id_: str,
        means: str,
        grades: Grades,
        id2: str,
        means2: str,
        grades2: Grades,
    ) -> tuple[ChangeRule, ChangeRule]:
        """A kind of change, and the change back."""
        both = (
            ChangeRule(id_, means, grades, opposite=id2),
            ChangeRule(id2, means2, grades2, opposite=id_),
        )
        self.extend(both)
        return both

    def alone(self, id_: str, means: str, grades: Grades) -> ChangeRule:
        """A kind of change that goes back by one of its own kind."""
        self.append(ChangeRule(id_, means, grades, opposite=id_))
        return self[-1]


@dataclass(frozen=True, eq=False)
class Family:
    """Rules of changes, and what finds such changes.

    A field is given by its whole way: `deprecated.removal`; one that is in any entry of a
    mapping or sequence as `actions.values.*.requires`.

    Attributes:
        rules: each kind of change that it finds.
        tool_rows: fields of a tool spec that are compared by their values alone.
        toolset_rows: those of `toolset.yaml`.
        mcp_resource_rows: those of a resource spec, whose changes `compare_toolsets` finds.
        mcp_prompt_rows: those of an MCP prompt spec, in the same way.
        workspace_rows: those of toolcast.yaml.
        tool_fields: the other fields of a tool spec whose changes it finds.
        toolset_fields: those of `toolset.yaml`.
        mcp_resource_fields: those of a resource spec.
        mcp_prompt_fields: those of an MCP prompt spec.
        workspace_fields: those of toolcast.yaml.
        compare_tools: finds the changes of a tool's other fields; None for none.
        compare_toolsets: finds those of a toolset that both sides have, given as before and
            after, each with its workspace; None for none.
        compare_workspaces: finds those of toolcast.yaml, and what needs all toolsets, given
            before and after; None for none.
    """

    rules: Collection[ChangeRule]
    tool_rows: tuple[FieldRow, ...] = ()
    toolset_rows: tuple[FieldRow, ...] = ()
    mcp_resource_rows: tuple[FieldRow, ...] = ()
    mcp_prompt_rows: tuple[FieldRow, ...] = ()
    workspace_rows: tuple[FieldRow, ...] = ()
    tool_fields: Collection[str] = ()
    toolset_fields: Collection[str] = ()
    mcp_resource_fields: Collection[str] = ()
    mcp_prompt_fields: Collection[str] = ()
    workspace_fields: Collection[str] = ()
    compare_tools: Callable[[Both], Iterator[Change]] | None = None
    compare_toolsets: (
        Callable[[Toolset, Toolset, Workspace, Workspace], Iterator[Change]] | None
    ) = None
    compare_workspaces: Callable[[Workspace, Workspace], Iterator[Change]] | None = None

    def fields(self, side: str) -> list[str]:
        """The fields of one kind of file, one of KINDS, that it compares."""
        rows: tuple[FieldRow, ...] = getattr(self, f"{side}_rows")
        return [*(row.field for row in rows), *getattr(self, f"{side}_fields")]
