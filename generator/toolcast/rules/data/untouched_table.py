"""`data/untouched-table`."""

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
        if reach is None or reach.unread:
            continue
        touched = {one.table for one in reach.touched}
        for key in ("reads", "writes", "destroys"):
            for index, table in enumerate(tool.data.get(key, ())):
                if table not in touched:
                    yield RULE.at(
                        tool,
                        ("data", key, index),
                        f"the handler of `{tool.name}` is not seen to query `{table}`",
                        "remove it if that is past; queries that are put together when they"
                        " run cannot be seen",
                    )


RULE = Rule(
    id="data/untouched-table",
    severity=Severity.NOTE,
    purpose="Checks that handlers are seen to query the tables that specs name.",
    why=(
        "The map of who touches which table is only worth something while it is true."
    ),
    bad="""\
data: {pool: ledger, reads: [notes]}
handler: handlers.work:work
# toolset.yaml
handlers: handlers
pools: {ledger: {tables: [notes]}}
# handlers/work.py
def work(): return 1
""",
    good="""\
data: {pool: ledger, reads: [notes]}
handler: handlers.work:work
# toolset.yaml
handlers: handlers
pools: {ledger: {tables: [notes]}}
# handlers/work.py
def work(): return connect().execute("SELECT * FROM notes")
""",
    check=check,
)
