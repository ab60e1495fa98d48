"""`schema/required-unknown`."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, Severity
from ..spec.model import Toolset, Workspace
from ..spec.shape import did_you_mean
from .rule import Rule, at_tool

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds names of `required` that no property has."""
    for tool in toolset.tools:
        listed = tool.parameters.get("required")
        if not isinstance(listed, list):
            continue
        for index, name in enumerate(listed):
            if isinstance(name, str) and name not in tool.properties:
                yield at_tool(
                    RULE,
                    tool,
                    ("parameters", "required", index),
                    f"`required` names `{name}`, which is not a property",
                    did_you_mean(name, list(tool.properties)),
                )


RULE = Rule(
    id="schema/required-unknown",
    severity=Severity.ERROR,
    purpose="Checks that every name in `required` is a property of the schema.",
    why=(
        "A call could never be valid: the caller cannot know what the missing parameter is,"
        " and `additionalProperties: false` refuses it."
    ),
    bad="""\
parameters:
  type: object
  properties: {task: {type: string}}
  required: [tsk]
""",
    good="""\
parameters:
  type: object
  properties: {task: {type: string}}
  required: [task]
""",
    check=check,
)
