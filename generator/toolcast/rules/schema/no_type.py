"""`schema/no-type`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if "type" not in tool.parameters:
            yield RULE.at(
                tool,
                ("parameters",),
                "`parameters` has no `type`",
                "add `type: object`",
                at_key=True,
            )


RULE = Rule(
    id="schema/no-type",
    severity=Severity.WARNING,
    purpose="Checks that `parameters` says `type: object`.",
    why="MCP demands it, and clients that check their server's list refuse the tool.",
    bad="""\
parameters:
  properties: {task: {type: string}}
""",
    good="""\
parameters:
  type: object
  properties: {task: {type: string}}
""",
    check=check,
)
