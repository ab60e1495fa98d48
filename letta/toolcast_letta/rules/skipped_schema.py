"""`letta/skipped-schema`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule

from ..schemas.health import schema_problem_places
from . import facts_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if not facts_of(tool).get("attached"):
            continue
        for path, reason in schema_problem_places(tool.parameters):
            yield RULE.at(
                tool,
                ("parameters", *path),
                f"Letta skips `{tool.name}`: {reason}",
                "give it a `type`, `items` or properties, as the place needs",
            )


RULE = Rule(
    id="letta/skipped-schema",
    severity=Severity.ERROR,
    purpose="Checks that Letta does not skip an attached tool because of its schema.",
    why=(
        "Letta marks such a schema as INVALID and leaves the tool out of its registry. The"
        " sync answers with success, and the agent never has the tool."
    ),
    bad="""\
letta: {attached: true}
parameters:
  type: object
  properties: {tags: {type: array}}
""",
    good="""\
letta: {attached: true}
parameters:
  type: object
  properties: {tags: {type: array, items: {type: string}}}
""",
    check=check,
)
