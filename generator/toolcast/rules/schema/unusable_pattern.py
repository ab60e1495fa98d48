"""`schema/unusable-pattern`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...findings import Finding, Severity
from ...json_schema.graph import JsonSchema
from ...json_schema.patterns import Pattern, can_be_applied
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import patterns_that, schemas_of

__all__ = ["RULE"]

_OWN_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\[<>])")


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, field, schema in schemas_of(toolset):
        if _are_too_large_together(schema):
            message = "the patterns are too large together to check calls by"
            help_ = "write fewer, with smaller counts, and use `maxLength` for lengths"
            yield RULE.at(tool, (field,), message, help_)
    help_ = (
        "write it in the syntax of ECMA-262 (`$` for `\\Z`, `<` for `\\<`), with smaller"
        " counts and fewer brackets"
    )
    yield from patterns_that(RULE, toolset, _problem, help_)


def _are_too_large_together(schema: JsonSchema) -> bool:
    """Whether there are too many, where each alone can be applied."""
    return schema.patterns_are_too_large and (
        schema.has_too_many_patterns
        or all(can_be_applied(text) for _, text, _ in schema.patterns)
    )


def _problem(text: str, facts: Pattern) -> str:
    if facts.error:
        return ""
    if not can_be_applied(text):
        return "is a regular expression that calls cannot be checked by"
    own = _OWN_ESCAPE.search(text)
    if own is not None:
        return f"has `{own[1]}`, the edge of a word to the validator of calls alone"
    return ""


RULE = Rule(
    id="schema/unusable-pattern",
    severity=Severity.ERROR,
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
