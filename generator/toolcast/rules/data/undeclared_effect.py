"""`data/undeclared-effect`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..handler import place, way_to
from ..rule import Rule
from . import at_data, declared, touched_of

__all__ = ["RULE"]


_ENOUGH = {"writes": ("writes",), "destroys": ("destroys",)}


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if not toolset.pools:
        return
    for tool in toolset.tools:
        named = declared(tool)
        reported: set[tuple[str, str]] = set()
        for one in touched_of(workspace, toolset, tool):
            enough = _ENOUGH.get(one.kind, ())
            said = named.get(one.table)
            if not enough or said is None or said.intersection(enough):
                continue
            if (one.table, one.kind) not in reported:
                reported.add((one.table, one.kind))
                yield at_data(
                    RULE,
                    tool,
                    f"{place(one.file, one.line)} {one.kind} `{one.table}`, and the spec"
                    f" does not say so{way_to(one.way)}",
                    f"add it to `data.{one.kind}`, or leave the table as it is",
                )


RULE = Rule(
    id="data/undeclared-effect",
    severity=Severity.ERROR,
    purpose="Checks that a handler that writes or deletes rows is said to.",
    why=(
        "Who may call a tool is decided by what it does. One that was said to read was given"
        " to everybody, and deleted."
    ),
    bad="""\
data: {pool: ledger, reads: [notes]}
handler: handlers.work:work
# toolset.yaml
handlers: handlers
pools: {ledger: {tables: [notes]}}
# handlers/work.py
def work(): return connect().execute("DELETE FROM notes")
""",
    good="""\
data: {pool: ledger, destroys: [notes]}
handler: handlers.work:work
# toolset.yaml
handlers: handlers
pools: {ledger: {tables: [notes]}}
# handlers/work.py
def work(): return connect().execute("DELETE FROM notes")
""",
    check=check,
)
