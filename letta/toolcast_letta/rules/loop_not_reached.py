"""`letta/loop-not-reached`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule

from . import facts_of, reach, senders

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    looping = [tool for tool in toolset.tools if facts_of(tool).get("calls_agent_loop")]
    found = senders(workspace, toolset) if looping else {}
    for tool in looping:
        reached = reach(workspace, toolset, tool)
        if reached is not None and tool.name not in found and not reached.unread:
            yield RULE.at(
                tool,
                ("letta", "calls_agent_loop"),
                f"the handler of `{tool.name}` is not seen to send the agent a message",
                "remove it if that is past; it forbids the tool's attachment",
            )


RULE = Rule(
    id="letta/loop-not-reached",
    severity=Severity.NOTE,
    purpose="Checks that a tool that is said to call the agent's loop is seen to.",
    why=(
        "The fact outlived the code: the tool was kept from the agent for years, for a call"
        " that it made no more."
    ),
    bad="""\
letta: {calls_agent_loop: true}
handler: handlers.work:work
# handlers/work.py
def work(): return 1
""",
    good="""\
letta: {calls_agent_loop: true}
handler: handlers.work:work
# handlers/work.py
def work(): return client.agents.messages.create("agent-1", input="What now?")
""",
    check=check,
)
