"""`data/unknown-pool`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if tool.data is None:
            continue
        pool = tool.data.get("pool")
        if pool is None:
            yield RULE.at(
                tool,
                ("data",),
                "`data` does not say in which pool the tables are",
                "add `pool:`, one of the toolset's `pools`",
                at_key=True,
            )
        elif pool not in toolset.pools:
            yield RULE.at(
                tool,
                ("data", "pool"),
                f"the toolset has no pool `{pool}`",
                did_you_mean(pool, list(toolset.pools)) or "add it to `pools`",
            )


RULE = Rule(
    id="data/unknown-pool",
    severity=Severity.ERROR,
    purpose="Checks that every tool's pool is one of the toolset's.",
    why=(
        "A tool once wrote to a database that nobody had meant it to reach. Its spec named"
        " a pool that did not exist, and nothing compared the two."
    ),
    bad="""\
data: {pool: ledgr, reads: [notes]}
# toolset.yaml
pools: {ledger: {tables: [notes]}}
""",
    good="""\
data: {pool: ledger, reads: [notes]}
# toolset.yaml
pools: {ledger: {tables: [notes]}}
""",
    check=check,
)
