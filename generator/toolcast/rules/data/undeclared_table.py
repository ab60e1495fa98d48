"""`data/undeclared-table`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import quoted_list
from ..handler import place, way_to
from ..rule import Rule
from . import at_data, declared, touched_of, wrong_pool

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if not toolset.pools:
        return
    known = {table for tables in toolset.pools.values() for table in tables}
    for tool in toolset.tools:
        named = declared(tool)
        reported = {*named}
        for one in touched_of(workspace, toolset, tool):
            is_table = one.is_certain or one.table in known
            if one.table in reported or not is_table or wrong_pool(toolset, one):
                continue
            reported.add(one.table)
            has = f"it names {quoted_list(list(named))}" if named else "it names none"
            yield at_data(
                RULE,
                tool,
                f"{place(one.file, one.line)} {one.kind} `{one.table}`, a table that the"
                f" spec does not name{way_to(one.way)}",
                f"{has}; is it the right table? Then add it to `data.{one.kind}`",
            )


RULE = Rule(
    id="data/undeclared-table",
    severity=Severity.ERROR,
    purpose="Checks that handlers query no table that their specs do not name.",
    why=(
        "Two tables of one shape hold two histories. A tool that queried the wrong one gave"
        " answers that looked right, from conversations that nobody had meant. A table whose"
        " name is data when the code runs, a parameter of a helper for one, cannot be seen."
    ),
    bad="""\
data: {pool: ledger, reads: [notes]}
handler: handlers.work:work
# toolset.yaml
handlers: handlers
pools: {ledger: {tables: [notes, old_notes]}}
# handlers/work.py
QUERY = "SELECT * FROM old_notes"
def work(): return connect().execute(QUERY)
""",
    good="""\
data: {pool: ledger, reads: [notes]}
handler: handlers.work:work
# toolset.yaml
handlers: handlers
pools: {ledger: {tables: [notes, old_notes]}}
# handlers/work.py
QUERY = "SELECT * FROM notes"
def work(): return connect().execute(QUERY)
""",
    check=check,
)
