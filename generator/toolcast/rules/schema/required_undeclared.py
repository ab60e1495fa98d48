"""`schema/required-undeclared`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from .required_unknown import unknown_names

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, path, name, _ in unknown_names(toolset, permitted=True):
        yield RULE.at(
            tool,
            path,
            f"`required` names `{name}`, which no property describes",
            f"add `{name}` to `properties`, so that a caller learns what it is",
        )


RULE = Rule(
    id="schema/required-undeclared",
    severity=Severity.WARNING,
    purpose="Checks that a required name is described, even where any name is allowed.",
    why="A model has to give a value and is not told what for.",
    bad="""\
parameters:
  type: object
  properties: {task: {type: string}}
  required: [owner]
  additionalProperties: true
""",
    good="""\
parameters:
  type: object
  properties: {task: {type: string}, owner: {type: string}}
  required: [owner]
  additionalProperties: true
""",
    check=check,
)
