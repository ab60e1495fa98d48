"""`schema/slow-pattern`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import patterns_that

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    words = "repeats a repetition: matching can take time without end"
    yield from patterns_that(
        RULE,
        toolset,
        lambda _, facts: words if facts.is_slow else "",
        "let each round of the outer repetition begin with a character of its own",
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
