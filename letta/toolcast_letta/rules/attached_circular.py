"""`letta/attached-circular`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule

from . import facts_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        letta = facts_of(tool)
        if letta.get("attached") and letta.get("calls_agent_loop"):
            yield RULE.at(
                tool,
                ("letta", "attached"),
                f"`{tool.name}` calls the agent's own loop and is attached to the agent",
                "set `attached: false`",
            )


RULE = Rule(
    id="letta/attached-circular",
    severity=Severity.ERROR,
    purpose="Checks that no tool that calls the agent's loop is attached to the agent.",
    why=(
        "The agent calls the tool, the tool runs the agent, the agent calls the tool. It ends"
        " when the money does."
    ),
    bad="""\
letta: {attached: true, calls_agent_loop: true}
""",
    good="""\
letta: {attached: false, calls_agent_loop: true}
""",
    check=check,
)
