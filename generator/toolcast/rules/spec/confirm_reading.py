"""`spec/confirm-reading`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if tool.confirm and (tool.annotations or {}).get("readOnlyHint") is True:
            yield RULE.at(
                tool,
                ("confirm",),
                "a person is asked before each call of a tool that changes nothing",
                "take `readOnlyHint` away if it does change something, else `confirm`",
                at_key=True,
            )


RULE = Rule(
    id="spec/confirm-reading",
    severity=Severity.WARNING,
    purpose="Checks that no person is asked before a tool that only reads.",
    why=(
        "Clients run tools with `readOnlyHint` without asking. One of the two is wrong, and"
        " people who are asked too often say yes without reading."
    ),
    bad="""\
annotations: {readOnlyHint: true}
confirm: {message: Send the report?}
""",
    good="""\
annotations: {readOnlyHint: false}
confirm: {message: Send the report?}
""",
    check=check,
)
