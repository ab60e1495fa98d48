"""`expose/server-tools`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for server in toolset.mcp_servers:
        for own in server.tools:
            if not server.takes(own):
                yield RULE.at(
                    toolset,
                    ("mcp_servers", server.name, "tools", own),
                    f"`{own}` gets a name, and is not taken from `{server.name}`",
                    did_you_mean(own, server.allow or ())
                    or "add it to the server's `allow`, or remove it from `tools`",
                    at_key=True,
                )


RULE = Rule(
    id="expose/server-tools",
    severity=Severity.WARNING,
    purpose="Checks that each external tool that gets a name is taken from its server.",
    why="A client that is allowed the name would be offered nothing by it.",
    bad="""\
# toolset.yaml
mcp_servers:
  google: {command: workspace-mcp, allow: [get_events], tools: {manage_event: calendar}}
""",
    good="""\
# toolset.yaml
mcp_servers:
  google: {command: workspace-mcp, allow: [manage_event], tools: {manage_event: calendar}}
""",
    check=check,
)
