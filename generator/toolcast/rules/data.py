"""The rules `data/...`; `data.md` says what each is for."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..static_analysis.call_graph import TableAccess, trace_handler
from ..static_analysis.handler import is_in_package
from ..static_analysis.modules import read_module
from ..suggestions import did_you_mean, format_quoted_list
from .handler import place, way_to
from .rule import Problem, problem_at, rule
from .subjects import Scope
from .unknown_names import unknown_names

unknown_pool = unknown_names("data/unknown-pool", "pool")
unknown_table = unknown_names("data/unknown-table", "table")


def touched_of(where: Scope, tool: ToolSpec) -> tuple[TableAccess, ...]:
    """The tables that a tool's handler names; empty when it cannot be read."""
    reach = trace_handler(where.workspace, where.toolset, tool)
    return reach.tables if reach else ()


def wrong_pool(toolset: Toolset, touched: TableAccess) -> str | None:
    """The pool that has the table, where it is queried through another pool; else None."""
    if not touched.pools:
        return None
    homes = [pool for pool, tables in toolset.pools.items() if touched.table in tables]
    return homes[0] if homes and touched.pools.isdisjoint(homes) else None


def declared(tool: ToolSpec) -> dict[str, set[str]]:
    """The tables that a spec declares, each with the keys of `data` that name it."""
    found: dict[str, set[str]] = {}
    for key in ("reads", "writes", "deletes"):
        for table in (tool.data or {}).get(key, ()):
            found.setdefault(table, set()).add(key)
    return found


def at_data(tool: ToolSpec, touched: TableAccess, does: str, help_: str) -> Problem:
    """What a line does, told at a tool's `data`, or at its handler when it has none."""
    path = ("data",) if tool.data is not None else ("handler",)
    message = f"{place(touched.file, touched.line)} {does}{way_to(touched.call_path)}"
    return problem_at(tool, path, message, help_, at_key=tool.data is not None)


@rule("data/undeclared-effect", on="tool", severity=Severity.ERROR)
def undeclared_effect(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    named = declared(tool)
    reported: set[tuple[str, str]] = set()
    for one in touched_of(where, tool) if where.toolset.pools else ():
        said = one.table, one.kind
        is_undeclared = one.table in named and one.kind not in named[one.table]
        if one.kind in ("writes", "deletes") and is_undeclared and said not in reported:
            reported.add(said)
            message = f"{one.kind} `{one.table}`, and the spec does not say so"
            help_ = f"add it to `data.{one.kind}`, or leave the table as it is"
            yield at_data(tool, one, message, help_)


@rule("data/undeclared-table", on="tool", severity=Severity.ERROR)
def undeclared_table(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    pools = where.toolset.pools
    known = {table for tables in pools.values() for table in tables}
    named = declared(tool)
    reported = {*named}
    has = f"it names {format_quoted_list(list(named))}" if named else "it names none"
    for one in touched_of(where, tool) if pools else ():
        is_table = one.is_certain or one.table in known
        if one.table in reported or not is_table or wrong_pool(where.toolset, one):
            continue
        reported.add(one.table)
        message = f"{one.kind} `{one.table}`, a table that the spec does not name"
        help_ = f"{has}; is it the right table? Then add it to `data.{one.kind}`"
        yield at_data(tool, one, message, help_)


@rule("data/unknown-accessor", on="toolset", severity=Severity.ERROR)
def unknown_accessor(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for pool, accessors in toolset.pool_accessors.items():
        for index, accessor in enumerate(accessors):
            problem = _problem(toolset, workspace, accessor)
            if problem is not None:
                yield problem_at(toolset, ("pools", pool, "accessors", index), *problem)


def _problem(
    toolset: Toolset, workspace: Workspace, accessor: str
) -> tuple[str, str] | None:
    module, _, name = accessor.partition(":")
    if toolset.handlers is None or not is_in_package(module, toolset.handlers):
        return (
            f"`{module}` is not below the toolset's `handlers`",
            "only the code of that package is read",
        )
    found = read_module(workspace.root, workspace.sources, module)
    if found is None:
        return f"there is no module `{module}`", ""
    if found.problem:
        return f"{found.file} cannot be read: {found.problem}", ""
    bound = found.bindings
    names = [*bound.functions, *bound.classes, *bound.assignments]
    if name in names:
        return None
    help_ = did_you_mean(name, names) or "name it where it is defined"
    return f"{found.file} defines no `{name}`", help_


@rule("data/unknown-pool", on="tool", severity=Severity.ERROR)
def without_pool(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if tool.data is not None and "pool" not in tool.data:
        message = "`data` does not say in which pool the tables are"
        help_ = "add `pool:`, one of the toolset's `pools`"
        yield problem_at(tool, ("data",), message, help_, at_key=True)


@rule("data/wrong-pool", on="tool", severity=Severity.ERROR)
def check_wrong_pool(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    accessors = where.toolset.pool_accessors
    reported: set[str] = set()
    for one in touched_of(where, tool) if any(accessors.values()) else ():
        right = wrong_pool(where.toolset, one)
        if right is None or one.table in reported:
            continue
        reported.add(one.table)
        through = " and ".join(f"`{pool}`" for pool in sorted(one.pools))
        message = (
            f"queries `{one.table}` through the pool {through}, and the table is in"
            f" `{right}`"
        )
        help_ = f"take a connection of `{right}`"
        if accessors.get(right):
            help_ = f"use the accessor of `{right}`: {', '.join(accessors[right])}"
        yield at_data(tool, one, message, help_)
