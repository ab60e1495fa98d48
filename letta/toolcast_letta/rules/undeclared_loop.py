"""`letta/undeclared-loop`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.handler import place, way_to
from toolcast.rules.rule import Rule

from . import LIMITS, facts_of, said, senders

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if not any(facts_of(tool) for tool in toolset.tools):
        return
    found = senders(workspace, toolset)
    for tool in toolset.tools:
        letta = facts_of(tool)
        if letta.get("attached") or letta.get("calls_agent_loop"):
            continue
        sent = found.get(tool.name)
        if sent is not None:
            yield RULE.at(
                tool,
                ("letta",) if letta else ("name",),
                f"{place(sent.file, sent.line)} {said(sent)}{way_to(sent.way)}; the spec does"
                " not say so",
                "add `calls_agent_loop: true` to `letta`: the server then refuses the call"
                " when the agent itself makes it",
                at_key=bool(letta),
            )


RULE = Rule(
    id="letta/undeclared-loop",
    severity=Severity.WARNING,
    purpose="Checks that a tool whose handler sends a message to the agent says so.",
    why=(
        "The server refuses a call that comes out of the agent's own turn, and it can only"
        " do so for the tools of which it knows that they lead back into it." + LIMITS
    ),
    bad="""\
letta: {attached: false}
handler: handlers.work:work
# handlers/work.py
def work(): return letta.send_chat_message("What now?")
""",
    good="""\
letta: {attached: false, calls_agent_loop: true}
handler: handlers.work:work
# handlers/work.py
def work(): return letta.send_chat_message("What now?")
""",
    check=check,
)
