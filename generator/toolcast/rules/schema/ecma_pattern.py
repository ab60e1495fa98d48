"""`schema/ecma-pattern`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...json_schema.patterns import pattern
from ...json_schema.values import patterns_of
from ...model.model import Toolset, Workspace
from ..rule import Rule, at_tool

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds patterns that Python cannot read."""
    for tool in toolset.tools:
        for field, schema in tool.schemas.items():
            for path, text, is_key in patterns_of(schema):
                facts = pattern(text)
                if facts.is_ecma_only:
                    yield at_tool(
                        RULE,
                        tool,
                        (field, *path),
                        f"`{text[:60]}` is a regular expression that Python cannot read",
                        "write it without `\\p{...}`, `(?<name>...)` and needless escapes",
                        at_key=is_key,
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
