"""What the rules of the family `schema` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...findings import Finding
from ...json_schema.patterns import Pattern, pattern
from ...model.model import Toolset
from ..rule import Rule, at_tool

__all__ = ["patterns_that"]


def patterns_that(
    rule: Rule,
    toolset: Toolset,
    problem: Callable[[str, Pattern], str],
    help: str,
) -> Iterator[Finding]:
    """A finding at each regular expression that has a problem.

    Args:
        rule: whose findings they are.
        toolset: whose tools' schemas are looked at.
        problem: says what is wrong with a pattern, after its text; empty when nothing is.
        help: what to do.
    """
    for tool in toolset.tools:
        for field, schema in tool.schemas.items():
            if schema.has_too_many_patterns:
                continue  # `schema/unusable-pattern` says so
            for path, text, is_key in schema.patterns:
                words = problem(text, pattern(text))
                if words:
                    message = f"`{text[:60]}` {words}"
                    where = (field, *path)
                    yield at_tool(rule, tool, where, message, help, at_key=is_key)
