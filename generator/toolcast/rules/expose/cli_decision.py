"""`expose/cli-decision`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "cli" not in toolset.targets:
        return
    for tool in toolset.tools_in("cli"):
        if tool.cli is None:
            yield RULE.at(
                tool,
                (),
                f"`{tool.name}` has no CLI decision",
                "add `cli: {keyword: ...}`, or `cli: {keyword: null, reason: ...}`",
            )
        elif tool.cli.keyword is None and not tool.cli.reason:
            yield RULE.at(
                tool,
                ("cli", "keyword"),
                f"`{tool.name}` is not in the CLI, and no reason is given",
                "add `reason:` beside `keyword: null`",
            )


RULE = Rule(
    id="expose/cli-decision",
    severity=Severity.ERROR,
    purpose="Checks that every tool has a CLI keyword, or null with a reason.",
    why=(
        "Two tools once moved to another section without a decision. Nobody noticed that"
        " agents with only a shell had lost them."
    ),
    bad="""\
# list_peers.yaml
summary: Lists peers.
# toolset.yaml
targets: {cli: {}}
""",
    good="""\
# list_peers.yaml
summary: Lists peers.
cli: {keyword: peers}
# toolset.yaml
targets: {cli: {}}
""",
    check=check,
)
