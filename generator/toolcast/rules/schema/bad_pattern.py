"""`schema/bad-pattern`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...json_schema.patterns import pattern
from ...json_schema.values import patterns_of
from ...model.model import Toolset, Workspace
from ..rule import Rule, at_tool

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds patterns that are no regular expressions."""
    for tool in toolset.tools:
        for field, schema in tool.schemas.items():
            for path, text, is_key in patterns_of(schema):
                facts = pattern(text)
                if facts.error:
                    yield at_tool(
                        RULE,
                        tool,
                        (field, *path),
                        f"`{text[:60]}` is no regular expression: {facts.error}",
                        "quote the pattern and escape what is meant literally",
                        at_key=is_key,
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
