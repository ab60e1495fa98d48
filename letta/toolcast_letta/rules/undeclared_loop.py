"""`letta/undeclared-loop`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.handler_code.call_graph import reach_of
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.handler import place, way_to
from toolcast.rules.rule import Rule, at_tool

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds tools beside a Letta agent that call its loop and do not say so."""
    if not any(tool.letta for tool in toolset.tools):
        return
    for tool in toolset.tools:
        letta = tool.letta or {}
        if letta.get("attached") or letta.get("calls_agent_loop"):
            continue
        reach = reach_of(workspace, toolset, tool)
        for sent in reach.sent[:1] if reach else ():
            yield at_tool(
                RULE,
                tool,
                ("letta",) if tool.letta else ("name",),
                f"{place(sent.file, sent.line)} sends a message into the agent's loop,"
                f" and the spec does not say so{way_to(sent.way)}",
                "add `calls_agent_loop: true` to `letta`: the server then refuses the call"
                " when the agent itself makes it",
                at_key=bool(tool.letta),
            )


RULE = Rule(
    id="letta/undeclared-loop",
    severity=Severity.WARNING,
    purpose="Checks that a tool whose handler sends a message to the agent says so.",
    why=(
        "The server refuses a call that comes out of the agent's own turn, and it can only"
        " do so for the tools of which it knows that they lead back into it."
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
