"""`handler/unfollowed`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...python_code.call_graph import reached_from
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if not tool.data:
            continue
        reach = reached_from(workspace, toolset, tool)
        for reason in reach.unread[:3] if reach else ():
            yield RULE.at(
                tool,
                ("handler",),
                f"what the handler does cannot be followed to the end: {reason}",
                "until then nobody knows which tables it queries",
            )


RULE = Rule(
    id="handler/unfollowed",
    severity=Severity.WARNING,
    purpose="Checks that what a handler does can be followed to the end.",
    why=(
        "A file that cannot be read hides what its functions do, and silence would look like a"
        " clean answer."
    ),
    bad="""\
data: {pool: ledger, reads: [notes]}
handler: handlers.work:work
# toolset.yaml
handlers: handlers
pools: {ledger: {tables: [notes]}}
# handlers/__init__.py
# handlers/work.py
from .store import query
def work(): return query("SELECT * FROM notes")
# handlers/store.py
def query(:
""",
    good="""\
data: {pool: ledger, reads: [notes]}
handler: handlers.work:work
# toolset.yaml
handlers: handlers
pools: {ledger: {tables: [notes]}}
# handlers/__init__.py
# handlers/work.py
from .store import query
def work(): return query("SELECT * FROM notes")
# handlers/store.py
def query(text): ...
""",
    check=check,
)
