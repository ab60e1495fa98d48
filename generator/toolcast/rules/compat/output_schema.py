"""`compat/output-schema`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.validation.protocol import is_listed_before_2026

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools_in("mcp") if "mcp" in toolset.targets else ():
        if "returns" in tool.fields and not is_listed_before_2026(tool.returns):
            yield RULE.at(
                tool,
                ("returns",),
                "clients before MCP 2026-07-28 are not shown this `outputSchema`, nor"
                " structured content",
                "nothing is wrong; with `type: object` at the root they would be, too",
                at_key=True,
            )


RULE = Rule(
    id="compat/output-schema",
    severity=Severity.NOTE,
    purpose="Checks that clients of both protocol eras are shown what a tool returns.",
    why=(
        "Until 2025-11-25 an `outputSchema` was `type: object`. Clients refuse the whole list"
        " of a server for one tool with another, so that it is left out for them."
    ),
    bad="""\
returns: {type: array, items: {type: string}}
""",
    good="""\
returns:
  type: object
  properties:
    notes: {type: array, items: {type: string}}
""",
    check=check,
)
