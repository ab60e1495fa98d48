"""`schema/unusable-pattern`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...json_schema.patterns import can_be_applied
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import patterns_that

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds patterns that the validator of calls refuses."""
    words = "is a regular expression that calls cannot be checked by"
    yield from patterns_that(
        RULE,
        toolset,
        lambda text, facts: "" if facts.error or can_be_applied(text) else words,
        "write it in the syntax of ECMA-262 (`$` for `\\Z`), and with smaller counts",
    )


RULE = Rule(
    id="schema/unusable-pattern",
    severity=Severity.WARNING,
    purpose="Checks that the validator of calls can apply every pattern.",
    why=(
        "Arguments that cannot be checked are refused: every call of the tool would fail,"
        " valid or not."
    ),
    bad="""\
parameters:
  type: object
  properties:
    name: {type: string, description: Its name., pattern: '^[a-z]+\\Z'}
""",
    good="""\
parameters:
  type: object
  properties:
    name: {type: string, description: Its name., pattern: '^[a-z]+$'}
""",
    check=check,
)
