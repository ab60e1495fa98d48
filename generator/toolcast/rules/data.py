"""The rules `data/...`; `data.md` says what each is for."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..python_code.call_graph import Touched, reached_from
from ..python_code.handler import is_below
from ..python_code.modules import read_module
from ..suggestions import did_you_mean, quoted_list
from .handler import place, way_to
from .places import Where
from .rule import Problem, at, rule
from .unknown_names import unknown_names

unknown_pool = unknown_names("data/unknown-pool", "pool")
unknown_table = unknown_names("data/unknown-table", "table")


def touched_of(
    workspace: Workspace, toolset: Toolset, tool: ToolSpec
) -> tuple[Touched, ...]:
    """The tables that a tool's handler names; empty when it cannot be read."""
    reach = reached_from(workspace, toolset, tool)
    return reach.touched if reach else ()


def wrong_pool(toolset: Toolset, touched: Touched) -> str | None:
    """The pool that has the table, where it is queried through another pool; else None."""
    if not touched.pools:
        return None
    homes = [pool for pool, tables in toolset.pools.items() if touched.table in tables]
    return homes[0] if homes and touched.pools.isdisjoint(homes) else None


def declared(tool: ToolSpec) -> dict[str, set[str]]:
    """The tables that a spec declares, each with the keys of `data` that name it."""
    found: dict[str, set[str]] = {}
    for key in ("reads", "writes", "destroys"):
        for table in (tool.data or {}).get(key, ()):
            found.setdefault(table, set()).add(key)
    return found


def at_data(tool: ToolSpec, message: str, help_: str) -> Problem:
    """A finding at a tool's `data`, or at its handler when it has none."""
    path = ("data",) if tool.data is not None else ("handler",)
    return at(tool, path, message, help_, at_key=tool.data is not None)


_ENOUGH = {"writes": ("writes",), "destroys": ("destroys",)}


@rule("data/undeclared-effect", on="tool", severity=Severity.ERROR)
def undeclared_effect(tool: ToolSpec, where: Where) -> Iterator[Problem]:
    if not where.toolset.pools:
        return
    named = declared(tool)
    reported: set[tuple[str, str]] = set()
    for one in touched_of(where.workspace, where.toolset, tool):
        enough = _ENOUGH.get(one.kind, ())
        allowed_at = named.get(one.table)
        if not enough or allowed_at is None or allowed_at.intersection(enough):
            continue
        if (one.table, one.kind) not in reported:
            reported.add((one.table, one.kind))
            yield at_data(
                tool,
                f"{place(one.file, one.line)} {one.kind} `{one.table}`, and the spec"
                f" does not say so{way_to(one.way)}",
                f"add it to `data.{one.kind}`, or leave the table as it is",
            )


@rule("data/undeclared-table", on="tool", severity=Severity.ERROR)
def undeclared_table(tool: ToolSpec, where: Where) -> Iterator[Problem]:
    pools = where.toolset.pools
    if not pools:
        return
    known = {table for tables in pools.values() for table in tables}
    named = declared(tool)
    reported = {*named}
    for one in touched_of(where.workspace, where.toolset, tool):
        is_table = one.is_certain or one.table in known
        if one.table in reported or not is_table or wrong_pool(where.toolset, one):
            continue
        reported.add(one.table)
        has = f"it names {quoted_list(list(named))}" if named else "it names none"
        yield at_data(
            tool,
            f"{place(one.file, one.line)} {one.kind} `{one.table}`, a table that the"
            f" spec does not name{way_to(one.way)}",
            f"{has}; is it the right table? Then add it to `data.{one.kind}`",
        )


@rule("data/unknown-accessor", on="toolset", severity=Severity.ERROR)
def unknown_accessor(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for pool, accessors in toolset.pool_accessors.items():
        for index, accessor in enumerate(accessors):
            problem = _problem(toolset, workspace, accessor)
            if problem is not None:
                path = ("pools", pool, "accessors", index)
                yield at(toolset, path, *problem)


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
    bound = found.bindings
    names = [*bound.functions, *bound.classes, *bound.assigned]
    if name in names:
        return None
    help_ = did_you_mean(name, names) or "name it where it is defined"
    return f"{found.file} defines no `{name}`", help_


@rule("data/unknown-pool", on="tool", severity=Severity.ERROR)
def without_pool(tool: ToolSpec, where: Where) -> Iterator[Problem]:
    if tool.data is not None and "pool" not in tool.data:
        message = "`data` does not say in which pool the tables are"
        help_ = "add `pool:`, one of the toolset's `pools`"
        yield at(tool, ("data",), message, help_, at_key=True)


@rule("data/wrong-pool", on="tool", severity=Severity.ERROR)
def check_wrong_pool(tool: ToolSpec, where: Where) -> Iterator[Problem]:
    accessors = where.toolset.pool_accessors
    if not any(accessors.values()):
        return
    reported: set[str] = set()
    for one in touched_of(where.workspace, where.toolset, tool):
        right = wrong_pool(where.toolset, one)
        if right is None or one.table in reported:
            continue
        reported.add(one.table)
        through = " and ".join(f"`{pool}`" for pool in sorted(one.pools))
        yield at_data(
            tool,
            f"{place(one.file, one.line)} queries `{one.table}` through the pool"
            f" {through}, and the table is in `{right}`{way_to(one.way)}",
            (
                f"use the accessor of `{right}`: {', '.join(accessors[right])}"
                if accessors.get(right)
                else f"take a connection of `{right}`"
            ),
        )
