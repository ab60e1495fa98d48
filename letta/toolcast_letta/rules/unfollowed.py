"""`letta/unfollowed`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule

from . import facts_of, reach

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds handlers beside Letta agents of which a part could not be followed.

    Those that declare data are found by `handler/unfollowed`.
    """
    for tool in toolset.tools:
        if not facts_of(tool) or tool.data:
            continue
        reached = reach(workspace, toolset, tool)
        for reason in reached.unread[:3] if reached else ():
            yield RULE.at(
                tool,
                ("handler",),
                f"what the handler does cannot be followed to the end: {reason}",
                "until then nobody knows whether it calls the agent",
            )


RULE = Rule(
    id="letta/unfollowed",
    severity=Severity.WARNING,
    purpose="Checks that what a handler beside Letta agents does can be followed to the end.",
    why=(
        "A file that cannot be read hides whether its functions send the agent a message, and"
        " silence would look like a clean answer."
    ),
    bad="""\
letta: {attached: true}
handler: handlers.work:work
# handlers/__init__.py
# handlers/work.py
from .store import query
def work(): return query("notes")
# handlers/store.py
def query(:
""",
    good="""\
letta: {attached: true}
handler: handlers.work:work
# handlers/__init__.py
# handlers/work.py
from .store import query
def work(): return query("notes")
# handlers/store.py
def query(text): ...
""",
    check=check,
)
