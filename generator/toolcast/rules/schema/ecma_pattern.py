"""`schema/ecma-pattern`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import patterns_that

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    words = "is a regular expression that Python cannot read"
    yield from patterns_that(
        RULE,
        toolset,
        lambda _, facts: words if facts.is_ecma_only else "",
        "write it without `\\p{...}`, `(?<name>...)` and needless escapes",
    )


RULE = Rule(
    id="schema/ecma-pattern",
    severity=Severity.WARNING,
    purpose="Checks that every pattern can be read by Python as well as by JavaScript.",
    why="Clients and agents in Python validate with their own expressions: the tool fails there, and works elsewhere.",
    bad="""\
parameters:
  type: object
  properties:
    code: {type: string, pattern: "^\\\\p{L}+$"}
""",
    good="""\
parameters:
  type: object
  properties:
    code: {type: string, pattern: "^\\\\w+$"}
""",
    check=check,
)
