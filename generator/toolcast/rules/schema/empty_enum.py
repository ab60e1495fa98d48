"""`schema/empty-enum`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule, at_tool

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds enums without a value."""
    for tool in toolset.tools:
        for field, schema in tool.schemas.items():
            for path, subschema in schema.subschemas.items():
                if subschema.get("enum") == []:
                    yield at_tool(
                        RULE,
                        tool,
                        (field, *path, "enum"),
                        "`enum` is empty: no value is valid",
                        "list the values, or remove `enum`",
                    )


RULE = Rule(
    id="schema/empty-enum",
    severity=Severity.ERROR,
    purpose="Checks that every `enum` has a value.",
    why="Nothing can be valid, so a call with that parameter never is.",
    bad="""\
parameters:
  type: object
  properties:
    mode: {type: string, enum: []}
""",
    good="""\
parameters:
  type: object
  properties:
    mode: {type: string, enum: [fast, safe]}
""",
    check=check,
)
