"""`owners/missing`."""

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if "owner" not in tool.extensions:
            message = f"nobody answers for `{tool.name}`"
            help_ = "add `owner: {team: ...}`"
            yield RULE.at(tool, ("name",), message, help_)


RULE = Rule(
    id="owners/missing",
    severity=Severity.WARNING,
    purpose="Checks that each tool names the team that answers for it.",
    why="A tool failed at night, and nobody knew whom to ask.",
    bad="name: note",
    good="owner: {team: Notes}",
    check=check,
)
