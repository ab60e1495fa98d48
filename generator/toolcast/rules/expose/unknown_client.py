"""`expose/unknown-client`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import Suggestions
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    names = [client.name for client in toolset.clients]
    for tool in (*toolset.tools, *toolset.mcp_specs):
        suggestions = Suggestions(names)
        for index, name in enumerate(tool.clients or ()):
            if name not in names:
                yield RULE.at(
                    tool,
                    ("clients", index),
                    f"the toolset has no client `{name}`",
                    suggestions.near(name) or "add it to `clients` of toolset.yaml",
                )
    for server in toolset.mcp_servers:
        suggestions = Suggestions(names)
        for index, name in enumerate(server.clients or ()):
            if name not in names:
                yield RULE.at(
                    toolset,
                    ("mcp_servers", server.name, "clients", index),
                    f"the toolset has no client `{name}`",
                    suggestions.near(name) or "add it to `clients`",
                )
    suggestions = Suggestions(names)
    for named in toolset.token_budget.upfront:
        if named is not None and named not in names:
            yield RULE.at(
                toolset,
                ("token_budget", "upfront", named),
                f"the toolset has no client `{named}`",
                suggestions.near(named) or "add it to `clients`",
                at_key=True,
            )


RULE = Rule(
    id="expose/unknown-client",
    severity=Severity.ERROR,
    purpose="Checks that every client that is named is one of the toolset's.",
    why="Nobody has the misspelled name, so the tool is offered to nobody, and a budget holds for"
    " nobody.",
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
)
