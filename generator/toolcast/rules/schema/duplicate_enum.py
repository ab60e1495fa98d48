"""`schema/duplicate-enum`."""

from __future__ import annotations

from collections.abc import Iterator

from ...encoders.json_text import compact
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import subschemas_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, place, subschema in subschemas_of(toolset):
        values = subschema.get("enum")
        if not isinstance(values, list):
            continue
        seen: set[str] = set()
        for index, value in enumerate(values):
            text = compact(value)
            if text in seen:
                yield RULE.at(
                    tool,
                    (*place, "enum", index),
                    f"{text[:60]} stands twice in `enum`",
                    "remove one of the two",
                )
            seen.add(text)


RULE = Rule(
    id="schema/duplicate-enum",
    severity=Severity.WARNING,
    purpose="Checks that no value stands twice in an `enum`.",
    why="JSON Schema asks for distinct values, and some providers refuse the schema.",
    bad="""\
parameters:
  type: object
  properties:
    mode: {type: string, enum: [fast, safe, fast]}
""",
    good="""\
parameters:
  type: object
  properties:
    mode: {type: string, enum: [fast, safe]}
""",
    check=check,
)
