"""`schema/slow-pattern`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...json_schema.patterns import pattern
from ...json_schema.values import patterns_of
from ...model.model import Toolset, Workspace
from ..rule import Rule, at_tool

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds patterns that repeat a repetition in the same place."""
    for tool in toolset.tools:
        for field, schema in tool.schemas.items():
            for path, text, is_key in patterns_of(schema):
                facts = pattern(text)
                if facts.is_slow:
                    yield at_tool(
                        RULE,
                        tool,
                        (field, *path),
                        f"`{text[:60]}` repeats a repetition: matching can take time without end",
                        "let each round of the outer repetition begin with a character of its own",
                        at_key=is_key,
                    )


RULE = Rule(
    id="schema/slow-pattern",
    severity=Severity.WARNING,
    purpose="Checks that no pattern repeats a repetition in the same place.",
    why="Thirty characters from a caller keep such a pattern busy for minutes, in every client that matches it by backtracking.",
    bad="""\
parameters:
  type: object
  properties:
    code: {type: string, pattern: "^(a+)+$"}
""",
    good="""\
parameters:
  type: object
  properties:
    code: {type: string, pattern: "^a+$"}
""",
    check=check,
)
