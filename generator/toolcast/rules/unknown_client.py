"""`expose/unknown-client`."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Finding, Severity
from ..spec.model import Toolset, Workspace
from ..spec.shape import Suggestions
from .rule import Rule, at_tool

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds tools for clients that the toolset does not have."""
    names = [client.name for client in toolset.clients]
    for tool in toolset.tools:
        suggestions = Suggestions(names)
        for index, name in enumerate(tool.clients or ()):
            if name not in names:
                yield at_tool(
                    RULE,
                    tool,
                    ("clients", index),
                    f"the toolset has no client `{name}`",
                    suggestions.near(name) or "add it to `clients` of toolset.yaml",
                )


RULE = Rule(
    id="expose/unknown-client",
    severity=Severity.ERROR,
    purpose="Checks that every client of a tool is one of the toolset's.",
    why="Nobody has the misspelled name, so the tool is offered to nobody.",
    bad="""\
clients: [intrenal]
# toolset.yaml
clients: {internal: {allow: "*"}}
targets: {registry: {}}
""",
    good="""\
clients: [internal]
# toolset.yaml
clients: {internal: {allow: "*"}}
targets: {registry: {}}
""",
    check=check,
    each_tool=True,
)
