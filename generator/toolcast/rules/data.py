"""Rules of the family `data`: tables that handlers read, write and delete.

`data.md` explains each rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..static_analysis.call_graph import TableAccess, trace_handler
from ..static_analysis.handler import is_in_package
from ..static_analysis.modules import read_module
from ..suggestions import did_you_mean, format_quoted_list
from .handler import format_call_path, format_location
from .rule import Problem, problem_at, rule
from .subjects import Scope
from .unknown_names import unknown_names

unknown_pool = unknown_names("data/unknown-pool", "pool")
unknown_table = unknown_names("data/unknown-table", "table")


def _list_table_uses(scope: Scope, tool: ToolSpec) -> tuple[TableAccess, ...]:
    """Return each use of a table in the code that a tool's handler calls.

    Empty if the code cannot be analyzed.
    """
    reach = trace_handler(scope.workspace, scope.toolset, tool)
    return reach.tables if reach else ()


def _find_right_pool(toolset: Toolset, access: TableAccess) -> str | None:
    """Return the pool of a table that a handler queries through another pool.

    None if the pool is right, or if the pool of the table or of the query is unknown.
    """
    if not access.pools:
        return None
    pools = [pool for pool, tables in toolset.pools.items() if access.table in tables]
    return pools[0] if pools and access.pools.isdisjoint(pools) else None


def _collect_declared_tables(tool: ToolSpec) -> dict[str, set[str]]:
    """Return the kinds of access to each table that `data` of a spec declares.

    The keys are tables, the values sets of `reads`, `writes` and `deletes`.
    """
    keys_by_table: dict[str, set[str]] = {}
    for key in ("reads", "writes", "deletes"):
        for table in (tool.data or {}).get(key, ()):
            keys_by_table.setdefault(table, set()).add(key)
    return keys_by_table


def _problem_at_data(
    tool: ToolSpec, access: TableAccess, predicate: str, help_: str
) -> Problem:
    """Return a problem with a line of handler code, located in the tool's spec.

    The location is `data`, or `handler` in a spec without `data`.
    """
    path = ("data",) if tool.data is not None else ("handler",)
    location = format_location(access.file, access.line)
    message = f"{location} {predicate}{format_call_path(access.call_path)}"
    return problem_at(tool, path, message, help_, at_key=tool.data is not None)


@rule("data/undeclared-effect", on="tool", severity=Severity.ERROR)
def check_effects(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report tables that the handler writes or deletes and the spec declares otherwise.

    Such a table is in `data`, but not under the kind of access that the code has.
    """
    if not scope.toolset.pools:
        return
    declared = _collect_declared_tables(tool)
    reported: set[tuple[str, str]] = set()
    for access in _list_table_uses(scope, tool):
        table, kind = access.table, access.kind
        if kind not in ("writes", "deletes") or (table, kind) in reported:
            continue
        # Tables that the spec does not declare are reported by `data/undeclared-table`.
        if table in declared and kind not in declared[table]:
            reported.add((table, kind))
            predicate = f"{kind} `{table}`, but `data.{kind}` does not contain it"
            help_ = f"add `{table}` to `data.{kind}`, or do not change the table"
            yield _problem_at_data(tool, access, predicate, help_)


@rule("data/undeclared-table", on="tool", severity=Severity.ERROR)
def check_tables(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report tables that the handler uses and `data` does not declare.

    Each table is reported once. Nothing is reported for a toolset without `pools`.
    """
    pools = scope.toolset.pools
    if not pools:
        return
    known_tables = {table for tables in pools.values() for table in tables}
    declared = _collect_declared_tables(tool)
    reported = {*declared}
    for access in _list_table_uses(scope, tool):
        table = access.table
        # If the code does not show that the name is a table, it counts only if a pool has it.
        is_table = access.is_certain or table in known_tables
        # Tables of another pool are reported by `data/wrong-pool`.
        if table in reported or not is_table or _find_right_pool(scope.toolset, access):
            continue
        reported.add(table)
        predicate = f"{access.kind} `{table}`, which `data` does not declare"
        help_ = f"add `{table}` to `data.{access.kind}`"
        if declared:
            tables = format_quoted_list(list(declared))
            help_ = f"{help_}, or use a declared table: {tables}"
        yield _problem_at_data(tool, access, predicate, help_)


@rule("data/unknown-accessor", on="toolset", severity=Severity.ERROR)
def check_accessors(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report accessors of pools that do not exist in the handlers package."""
    for pool, accessors in toolset.pool_accessors.items():
        for index, accessor in enumerate(accessors):
            problem = _check_accessor(toolset, workspace, accessor)
            if problem is not None:
                path = ("pools", pool, "accessors", index)
                yield problem_at(toolset, path, *problem)


def _check_accessor(
    toolset: Toolset, workspace: Workspace, accessor: str
) -> tuple[str, str] | None:
    """Return a message and a help if an accessor does not exist, otherwise None."""
    module_name, _, name = accessor.partition(":")
    if toolset.handlers is None or not is_in_package(module_name, toolset.handlers):
        return (
            f"`{module_name}` is not in the handlers package of the toolset",
            "use a module of the handlers package: only its code is analyzed",
        )
    module = read_module(workspace.root, workspace.sources, module_name)
    if module is None:
        message = f"the module `{module_name}` does not exist"
        return message, "create the module, or correct its name"
    if module.problem:
        return f"{module.file} cannot be read: {module.problem}", "fix the file"
    bindings = module.bindings
    names = [*bindings.functions, *bindings.classes, *bindings.assignments]
    if name in names:
        return None
    message = f"{module.file} does not define `{name}`"
    return message, did_you_mean(name, names) or "use the module that defines it"


@rule("data/unknown-pool", on="tool", severity=Severity.ERROR)
def check_pool(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a tool's `data` without the key `pool`."""
    if tool.data is not None and "pool" not in tool.data:
        message = "`data` has no `pool` for its tables"
        help_ = "add `pool:` with one of the toolset's `pools`"
        yield problem_at(tool, ("data",), message, help_)


@rule("data/wrong-pool", on="tool", severity=Severity.ERROR)
def check_pool_uses(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report tables that the handler queries through a pool that does not contain them.

    Pools are recognized by their accessors; without accessors, nothing is reported.
    """
    accessors = scope.toolset.pool_accessors
    if not any(accessors.values()):
        return
    reported: set[str] = set()
    for access in _list_table_uses(scope, tool):
        right_pool = _find_right_pool(scope.toolset, access)
        if right_pool is None or access.table in reported:
            continue
        reported.add(access.table)
        used_pools = " and ".join(f"`{pool}`" for pool in sorted(access.pools))
        predicate = (
            f"queries `{access.table}` through the pool {used_pools}, but the table is in"
            f" `{right_pool}`"
        )
        help_ = f"use a connection of `{right_pool}`"
        if accessors.get(right_pool):
            names = ", ".join(accessors[right_pool])
            help_ = f"use the accessor of `{right_pool}`: {names}"
        yield _problem_at_data(tool, access, predicate, help_)
