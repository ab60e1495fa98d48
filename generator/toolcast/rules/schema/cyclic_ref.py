"""`schema/cyclic-ref`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import schemas_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, field, schema in schemas_of(toolset):
        for reference in schema.loops:
            yield RULE.at(
                tool,
                (field, *reference.path),
                f"`{reference.text[:80]}` leads back to itself",
                "a schema may contain itself only below `properties` or `items`,"
                " where the data ends the recursion",
            )


RULE = Rule(
    id="schema/cyclic-ref",
    severity=Severity.ERROR,
    purpose="Checks that no `$ref` leads back to itself without going into the data.",
    why=(
        "Validating any value would never end. A schema that contains itself below"
        " `properties` or `items`, as a tree does, is fine."
    ),
    bad="""\
parameters:
  type: object
  properties:
    filter: {$ref: "#/$defs/filter"}
  $defs:
    filter:
      anyOf: [{type: string}, {$ref: "#/$defs/filter"}]
""",
    good="""\
parameters:
  type: object
  properties:
    filter: {$ref: "#/$defs/filter"}
  $defs:
    filter:
      type: object
      properties:
        all: {type: array, items: {$ref: "#/$defs/filter"}}
""",
    check=check,
)
