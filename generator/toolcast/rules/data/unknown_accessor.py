"""`data/unknown-accessor`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...python_code.handler import is_below
from ...python_code.modules import read_module, scope_of
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for pool, accessors in toolset.pool_accessors.items():
        for index, accessor in enumerate(accessors):
            problem = _problem(toolset, workspace, accessor)
            if problem is not None:
                path = ("pools", pool, "accessors", index)
                yield RULE.at(toolset, path, *problem)


def _problem(
    toolset: Toolset, workspace: Workspace, accessor: str
) -> tuple[str, str] | None:
    module, _, name = accessor.partition(":")
    if toolset.handlers is None or not is_below(module, toolset.handlers):
        return (
            f"`{module}` is not below the toolset's `handlers`",
            "only the code of that package is read",
        )
    found = read_module(workspace.root, workspace.sources, module)
    if found is None:
        return f"there is no module `{module}`", ""
    if found.problem:
        return f"{found.file} cannot be read: {found.problem}", ""
    scope = scope_of(module, found)
    names = [*scope.functions, *scope.classes, *scope.values]
    if name in names:
        return None
    help_ = did_you_mean(name, names) or "name it where it is defined"
    return f"{found.file} defines no `{name}`", help_


RULE = Rule(
    id="data/unknown-accessor",
    severity=Severity.ERROR,
    purpose="Checks that the accessors of pools are there.",
    why=(
        "Code is held to the pools by their accessors. With a misspelled one every query would"
        " pass."
    ),
    bad="""\
# toolset.yaml
handlers: handlers
pools: {ledger: {tables: [notes], accessors: ["handlers.work:ledgr"]}}
# handlers/work.py
def work(arguments): ...
def ledger(): ...
""",
    good="""\
# toolset.yaml
handlers: handlers
pools: {ledger: {tables: [notes], accessors: ["handlers.work:ledger"]}}
# handlers/work.py
def work(arguments): ...
def ledger(): ...
""",
    check=check,
)
