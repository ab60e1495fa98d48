"""`letta/asked-twice`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule

from . import facts_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if tool.confirm is not None and "requires_approval" in facts_of(tool):
            yield RULE.at(
                tool,
                ("letta", "requires_approval"),
                f"`{tool.name}` has a `confirm`, by which Letta asks for approval already",
                "remove `requires_approval`: `confirm` says it for every surface",
            )


RULE = Rule(
    id="letta/asked-twice",
    severity=Severity.WARNING,
    purpose="Checks that what a person is asked is said once, by `confirm`.",
    why=(
        "Of two places that say whether a person is asked, one is forgotten: the tool then"
        " asks in Letta and nowhere else, or everywhere but in Letta."
    ),
    bad="""\
confirm: {message: Send it?}
letta: {attached: false, reason: It is sent by hand., requires_approval: true}
""",
    good="""\
confirm: {message: Send it?}
letta: {attached: false, reason: It is sent by hand.}
""",
    check=check,
)
