"""`expose/nobody`."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, Severity
from ..spec.model import Toolset, Workspace
from .rule import Rule, at_tool

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds tools that no client may have."""
    for tool in toolset.tools:
        # `clients: []` is a decision, and an `always` tool has a rule of its own.
        is_decided = tool.clients == () or tool.always
        if (
            toolset.clients
            and not is_decided
            and not any(toolset.is_offered(tool, client) for client in toolset.clients)
        ):
            yield at_tool(
                RULE,
                tool,
                ("clients",) if tool.clients is not None else ("name",),
                f"no client may have `{tool.name}`",
                "add it to a client's `allow`, or remove the tool",
            )


RULE = Rule(
    id="expose/nobody",
    severity=Severity.WARNING,
    purpose="Checks that every tool is offered to a client.",
    why="Access is closed by default, so a tool that nobody thought of is nobody's.",
    bad="""\
summary: Stores a note.
# toolset.yaml
clients: {external: {}}
targets: {registry: {}}
""",
    good="""\
summary: Stores a note.
# toolset.yaml
clients: {external: {allow: "*"}}
targets: {registry: {}}
""",
    check=check,
    each_tool=True,
)
