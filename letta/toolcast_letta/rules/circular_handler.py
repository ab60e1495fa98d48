"""`letta/circular-handler`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.handler import place, way_to
from toolcast.rules.rule import Rule

from . import LIMITS, attaches, facts_of, said, senders

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    found = senders(workspace, toolset) if attaches(toolset) else {}
    for tool in toolset.tools:
        if not facts_of(tool).get("attached"):
            continue
        sent = found.get(tool.name)
        if sent is not None:
            where = place(sent.file, sent.line)
            yield RULE.at(
                tool,
                ("letta", "attached"),
                f"{where} {said(sent)}{way_to(sent.way)}",
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
        " followed through the functions of its package; nothing is imported. A call of another"
        " tool counts that leads there: by the registry, a LangChain wrapper or a client of MCP."
        + LIMITS
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
