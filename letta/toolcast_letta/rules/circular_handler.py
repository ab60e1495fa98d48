"""`letta/circular-handler`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.handler import place, way_to
from toolcast.rules.rule import Rule, at_tool

from . import facts_of, reach

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds attached tools whose handlers send a message into the agent's loop."""
    for tool in toolset.tools:
        if not facts_of(tool).get("attached"):
            continue
        reached = reach(workspace, toolset, tool)
        for sent in reached.noted[:1] if reached else ():
            where = place(sent.file, sent.line)
            yield at_tool(
                RULE,
                tool,
                ("letta", "attached"),
                f"{where} sends a message into the agent's loop: `{sent.text[:80]}`"
                f"{way_to(sent.way)}",
                "set `attached: false` and `calls_agent_loop: true`, or take another way to"
                " the data: Letta's management API and databases are safe",
            )


RULE = Rule(
    id="letta/circular-handler",
    severity=Severity.ERROR,
    purpose="Checks that no handler of an attached tool sends a message to the agent.",
    why=(
        "The agent's turn waits for the tool, and the tool waits for a turn of the agent: it"
        " hangs, or what was said is lost from the agent's context. The handler's text is"
        " followed through the functions of its package; nothing is imported."
    ),
    bad="""\
letta: {attached: true}
handler: handlers.work:work
# handlers/work.py
from .asking import ask
def work(): return ask("What now?")
# handlers/asking.py
def ask(text): return client().agents.messages.create("agent-1", input=text)
# handlers/__init__.py
""",
    good="""\
letta: {attached: true}
handler: handlers.work:work
# handlers/work.py
from .reading import read
def work(): return read("persona")
# handlers/reading.py
def read(label): return client().agents.blocks.retrieve(label, agent_id="agent-1")
# handlers/__init__.py
""",
    check=check,
)
