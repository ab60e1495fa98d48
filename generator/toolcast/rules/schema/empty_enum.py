"""`schema/empty-enum`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import subschemas_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, place, subschema in subschemas_of(toolset):
        if subschema.get("enum") == []:
            yield RULE.at(
                tool,
                (*place, "enum"),
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
