"""`expose/always-unreachable`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if (
            tool.always
            and toolset.clients
            and not any(toolset.is_offered(tool, client) for client in toolset.clients)
        ):
            yield RULE.at(
                tool,
                ("always",),
                f"`{tool.name}` is always offered, and no client may have it",
                "let a client have it, or remove `always`",
            )


RULE = Rule(
    id="expose/always-unreachable",
    severity=Severity.ERROR,
    purpose="Checks that a tool that is always offered is offered to somebody.",
    why="What the system prompt counts on would never be there.",
    bad="""\
always: true
# toolset.yaml
clients: {external: {allow: []}}
targets: {registry: {}}
""",
    good="""\
always: true
# toolset.yaml
clients: {external: {allow: "*"}}
targets: {registry: {}}
""",
    check=check,
)
