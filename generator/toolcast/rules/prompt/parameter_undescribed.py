"""`prompt/parameter-undescribed`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        for name, schema in tool.properties.items():
            if not isinstance(schema, dict) or "$ref" in schema or "const" in schema:
                continue
            if not str(schema.get("description") or "").strip():
                yield RULE.at(
                    tool,
                    ("parameters", "properties", name),
                    f"the parameter `{name}` has no description",
                    at_key=True,
                )


RULE = Rule(
    id="prompt/parameter-undescribed",
    severity=Severity.NOTE,
    purpose="Checks that every parameter has a description.",
    why="Models fill a parameter by what its description asks for.",
    bad="""\
parameters:
  type: object
  properties: {task: {type: string}}
""",
    good="""\
parameters:
  type: object
  properties: {task: {type: string, description: What is to be done.}}
""",
    check=check,
)
