"""`schema/root-not-object`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        kinds = tool.parameters.get("type", "object")
        if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
            yield RULE.at(
                tool,
                ("parameters", "type"),
                "arguments are always an object",
                "write `type: object` and make the value one of its `properties`",
            )


RULE = Rule(
    id="schema/root-not-object",
    severity=Severity.ERROR,
    purpose="Checks that `parameters` takes an object.",
    why=("MCP and every provider send arguments as an object; no call could be valid."),
    bad="""\
parameters:
  type: array
  items: {type: string}
""",
    good="""\
parameters:
  type: object
  properties:
    words: {type: array, items: {type: string}}
""",
    check=check,
)
