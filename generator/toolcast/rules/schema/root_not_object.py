"""`schema/root-not-object`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if tool.parameters.get("type", "object") != "object":
            yield RULE.at(
                tool,
                ("parameters", "type"),
                "arguments are always an object",
                "write `type: object` and make the value one of its `properties`",
            )


RULE = Rule(
    id="schema/root-not-object",
    severity=Severity.ERROR,
    purpose="Checks that the type of `parameters` is object.",
    why=(
        "MCP and every provider send arguments as an object and demand that the schema says"
        " so; no call could be valid."
    ),
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
