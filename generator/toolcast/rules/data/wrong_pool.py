"""`data/wrong-pool`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..handler import place, way_to
from ..rule import Rule
from . import at_data, touched_of, wrong_pool

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if not any(toolset.pool_accessors.values()):
        return
    for tool in toolset.tools:
        reported: set[str] = set()
        for one in touched_of(workspace, toolset, tool):
            right = wrong_pool(toolset, one)
            if right is None or one.table in reported:
                continue
            reported.add(one.table)
            through = " and ".join(f"`{pool}`" for pool in sorted(one.pools))
            yield at_data(
                RULE,
                tool,
                f"{place(one.file, one.line)} queries `{one.table}` through the pool"
                f" {through}, and the table is in `{right}`{way_to(one.way)}",
                (
                    f"use the accessor of `{right}`: {', '.join(toolset.pool_accessors[right])}"
                    if toolset.pool_accessors.get(right)
                    else f"take a connection of `{right}`"
                ),
            )


_BAD = """\
data: {pool: archive, reads: [letters]}
handler: handlers.work:work
# toolset.yaml
handlers: handlers
pools:
  ledger: {tables: [notes], accessors: ["handlers.pools:ledger"]}
  archive: {tables: [letters], accessors: ["handlers.pools:archive"]}
# handlers/__init__.py
# handlers/pools.py
def ledger(): ...
def archive(): ...
# handlers/work.py
from .pools import ledger
def work():
    with ledger() as connection:
        return connection.execute("SELECT * FROM letters")
"""

RULE = Rule(
    id="data/wrong-pool",
    severity=Severity.ERROR,
    purpose="Checks that no handler queries a pool for a table of another pool.",
    why=(
        "The query finds nothing, and nothing says so: for the database the table is merely"
        " empty, or not the one that was meant. The handler's text is followed through the"
        " functions of its package; nothing is imported."
    ),
    bad=_BAD,
    good=_BAD.replace("import ledger", "import archive").replace(
        "with ledger", "with archive"
    ),
    check=check,
)
