"""`schema/bad-pattern`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import patterns_that

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    yield from patterns_that(
        RULE,
        toolset,
        lambda _, facts: facts.error and f"is no regular expression: {facts.error}",
        "quote the pattern and escape what is meant literally",
    )


RULE = Rule(
    id="schema/bad-pattern",
    severity=Severity.ERROR,
    purpose="Checks that every pattern is a regular expression.",
    why="Validation fails with an error of its own at each call, whatever the arguments are.",
    bad="""\
parameters:
  type: object
  properties:
    code: {type: string, pattern: "a(b"}
""",
    good="""\
parameters:
  type: object
  properties:
    code: {type: string, pattern: "a\\\\(b"}
""",
    check=check,
)
