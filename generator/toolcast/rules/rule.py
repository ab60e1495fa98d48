"""What a rule is: data and one function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..findings import Finding, Severity
from ..reading.tree import Path
from ..spec.model import Toolset, ToolSpec, Workspace
from .scope import Scope

__all__ = ["Check", "Rule", "at_tool", "at_toolset", "whole"]

Check = Callable[[Toolset, Workspace], Iterator[Finding]]


class Rule(NamedTuple):
    """One rule.

    Attributes:
        id: `family/kebab-name`.
        severity: an error only where an output would be wrong, unsafe or impossible.
        purpose: one sentence that starts "Checks that".
        why: what goes wrong without it.
        bad: a spec, or the part of one, that it finds.
        good: the same, right.
        check: gives the findings of a toolset; None for what reading itself finds.
        each_tool: what it finds at a tool depends on that tool and the toolset file alone,
            and on the fields below of others. Then only tools that changed are checked
            again, as if they were all that the toolset has; `workspace` has every tool.
        reads: the fields of the workspace's tools that it looks at across tools, besides
            their names and their order; None for all of them, empty for none.
        reads_code: it looks at handlers' source as well.
        looks_at: the fields of the tool itself that an `each_tool` rule looks at, besides
            its name, and `fields` for which ones it has; None for all of them. A changed
            tool in which it found nothing is not checked again when these are the same.
    """

    id: str
    severity: Severity
    purpose: str
    why: str
    bad: str
    good: str
    check: Check | None = None
    each_tool: bool = False
    reads: frozenset[str] | None = None
    reads_code: bool = False
    looks_at: frozenset[str] | None = None

    @property
    def scope(self) -> Scope:
        """What its findings depend on."""
        across = frozenset[str]() if self.each_tool else None
        if self.reads is not None:
            across = self.reads
        return Scope(self.id, self.each_tool, across, self.looks_at, self.reads_code)


def whole(toolset: Toolset, workspace: Workspace) -> Toolset:
    """The toolset with all its tools, of which a check may have been given a few."""
    same = (one for one in workspace.toolsets if one.name == toolset.name)
    return next(same, toolset)


def at_tool(
    rule: Rule,
    tool: ToolSpec,
    path: Path,
    message: str,
    help: str = "",
    *,
    at_key: bool = False,
) -> Finding:
    """A finding of a rule at a path of a tool's spec."""
    if tool.document is None:
        raise ValueError(f"the tool {tool.name} was bound without its document")
    return tool.document.finding(
        rule.id, rule.severity, path, message, help, at_key=at_key
    )


def at_toolset(
    rule: Rule,
    toolset: Toolset,
    path: Path,
    message: str,
    help: str = "",
    *,
    at_key: bool = False,
) -> Finding:
    """A finding of a rule at a path of `toolset.yaml`."""
    if toolset.document is None:
        raise ValueError(f"the toolset {toolset.name} was bound without its document")
    return toolset.document.finding(
        rule.id, rule.severity, path, message, help, at_key=at_key
    )
