"""`data/unknown-table`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import Suggestions
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        data = tool.data or {}
        tables = toolset.pools.get(data.get("pool", ""))
        if tables is None:
            continue
        suggestions = Suggestions(tables)
        for key in ("reads", "writes", "destroys"):
            for index, name in enumerate(data.get(key, ())):
                if name in tables:
                    continue
                elsewhere = [p for p, known in toolset.pools.items() if name in known]
                yield RULE.at(
                    tool,
                    ("data", key, index),
                    f"the pool `{data['pool']}` has no table `{name}`",
                    suggestions.near(name)
                    or (f"`{elsewhere[0]}` has it" if elsewhere else ""),
                )


RULE = Rule(
    id="data/unknown-table",
    severity=Severity.ERROR,
    purpose="Checks that every table that a tool names is in its pool.",
    why="The map of who touches which table is only worth something while it is true.",
    bad="""\
data: {pool: ledger, destroys: [note]}
# toolset.yaml
pools: {ledger: {tables: [notes]}}
""",
    good="""\
data: {pool: ledger, destroys: [notes]}
# toolset.yaml
pools: {ledger: {tables: [notes]}}
""",
    check=check,
)
