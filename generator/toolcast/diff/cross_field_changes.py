"""What a table of fields cannot say: commands, actions, names, tools that are left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from ..analysis.cli_commands import CliPositional, parse_usage
from ..model.model import Action, Toolset, ToolSpec, Workspace
from .change import (
    ABSENT,
    Change,
    Grade,
    Grades,
    SpecFiles,
    ToolPair,
    format_value,
    list_unshared_items,
    pair_toolset_files,
)
from .state import pair_spec_files
from .table import load_table_rules, make_change, make_presence_change

_ONLY_CALLS = Grades(call=Grade.RISKY)


def compare_tools(both: ToolPair) -> Iterator[Change]:
    """The changes of a tool's former names, actions and command."""
    yield from _former_names(both)
    yield from _usage(both)
    old, new = both.before.actions, both.after.actions
    if old is not None and new is not None:
        before = {action.name: action for action in old.values}
        for action in new.values:
            if action.name in before:
                yield from _one_of(both, before[action.name], action)
                yield from _accepted(both, before[action.name], action)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's reserved names and exclusions, and of what lies beside it."""
    yield from _reserved_names(before, after)
    yield from _exclusions(before, after)
    yield from _specs(before, after)


def compare_workspaces(before: Workspace, after: Workspace) -> Iterator[Change]:
    """Where toolsets are; those that come and go are told with their tools."""
    files = SpecFiles("", "", before.source, after.source)
    old, new = ({s.name: s for s in side.toolsets} for side in (before, after))
    path = ("toolsets",)
    for name in new:
        if name in old and old[name].folder != new[name].folder:
            folders = old[name].folder, new[name].folder
            where = files._replace(toolset=name)
            yield make_change(where, "toolset.folder/changed", path, *folders)
    orders = [n for n in old if n in new], [n for n in new if n in old]
    if orders[0] != orders[1]:
        yield make_change(files, "workspace.toolsets/moved", path, *orders)


def _former_names(both: ToolPair) -> Iterator[Change]:
    old, new = both.before, both.after
    # The name that a renamed tool had is a part of the rename.
    before = dict.fromkeys((*old.renamed_from, old.name))
    after = dict.fromkeys((*new.renamed_from, new.name))
    path = ("renamed_from",)
    for name in after:
        if name not in before and name != new.name:
            yield make_change(both.files, "tool.renamed_from/added", path, after=name)
    for name in before:
        if name in after or name == old.name:
            continue
        what = "tool.renamed_from/removed", path, name
        if any(tool.name == name for tool in both.toolset_after.tools):
            reason, grades = f"the tool {format_value(name)} answers them", _ONLY_CALLS
            yield make_change(
                both.files, *what, form="taken", grades=grades, reason=reason
            )
        else:
            yield make_change(both.files, *what, form="unknown")


def _usage(both: ToolPair) -> Iterator[Change]:
    """The change of the arguments that a command takes by place."""
    sides = [side.cli for side in (both.before, both.after)]
    usages = [side.usage or "" for side in sides if side is not None and side.keyword]
    if len(usages) < 2:
        return
    # White space between arguments says nothing.
    before, after = map(parse_usage, usages)
    if before == after:
        return
    event = "changed"
    if _is_more(after, before):
        event = "extended"
    elif _is_more(before, after):
        event = "cut"
    values = [usage or ABSENT for usage in usages]
    id_, (was, now) = f"tool.cli.usage/{event}", usages
    yield make_change(both.files, id_, ("cli", "usage"), *values, was=was, now=now)


def _is_more(more: tuple[CliPositional, ...], less: tuple[CliPositional, ...]) -> bool:
    """Whether whoever gives the fewer arguments still can, where they take more."""
    is_same = more[: len(less)] == less
    return is_same and all(one.optional for one in more[len(less) :])


def _one_of(both: ToolPair, old: Action, new: Action) -> Iterator[Change]:
    before, after = set(old.requires_any), set(new.requires_any)
    if before == after:
        return
    words = " or ".join(map(format_value, new.requires_any)) or "none of them"
    path = ("actions", "values", new.name, "requires_any")
    lists = [list(side.requires_any) or ABSENT for side in (old, new)]
    # To need one of none is to need none.
    for event, happened in (
        ("narrowed", bool(after) and (not before or bool(before - after))),
        ("widened", bool(before) and (not after or bool(after - before))),
    ):
        if happened:
            id_ = f"tool.actions.values.requires_any/{event}"
            yield make_change(
                both.files, id_, path, *lists, action=new.name, needed=words
            )


def _accepted(both: ToolPair, old: Action, new: Action) -> Iterator[Change]:
    """The parameters that an action takes more, or no more."""
    # Without `accepts` an action takes every parameter.
    takes = [None if a.accepts is None else {*a.parameters} for a in (old, new)]
    known = [name for name in both.after.properties if name in both.before.properties]
    selects = both.after.actions.parameter if both.after.actions else ""
    named = dict.fromkeys((*known, *old.parameters, *new.parameters))
    named.pop(selects, None)
    if _takes_any(both.before) and _takes_any(both.after):
        named["*"] = None
    for name in named:
        was, is_ = (side is None or name in side for side in takes)
        if was != is_:
            path = ("actions", "values", new.name, "accepts")
            what = "tool.actions.values.accepts", path, name, is_
            form = "unnamed" if name == "*" else "named"
            yield make_presence_change(both.files, *what, form=form, action=new.name)


def _takes_any(tool: ToolSpec) -> bool:
    """Whether a call may give parameters that the schema does not name."""
    return tool.parameters.get("additionalProperties") is not False


def _reserved_names(before: Toolset, after: Toolset) -> Iterator[Change]:
    files, path = pair_toolset_files(before, after), ("reserved_names",)
    old, new = before.reserved_names, after.reserved_names
    had, has = (
        {name for tool in side.tools for name in (tool.name, *tool.renamed_from)}
        for side in (before, after)
    )
    for name, reason in new.items():
        if name not in old:
            id_ = "toolset.reserved_names/added"
            yield make_change(files, id_, path, after=name, why=reason)
        elif old[name] != reason:
            values = {name: old[name]}, {name: reason}
            id_ = "toolset.reserved_names/changed"
            yield make_change(files, id_, path, *values, name=name)
    for name in old:
        if name not in new:
            event = "reused" if name in has and name not in had else "removed"
            yield make_change(files, f"toolset.reserved_names/{event}", path, name)


def _exclusions(before: Toolset, after: Toolset) -> Iterator[Change]:
    files, path = pair_toolset_files(before, after), ("exclusions",)
    names = {name: t.name for t in after.tools for name in (*t.renamed_from, t.name)}
    there = {tool.name for tool in after.tools}
    had = {names.get(tool.name) for tool in before.tools}
    old = {(names.get(e.tool, e.tool), e.target): e.reason for e in before.exclusions}
    new = {(e.tool, e.target): e.reason for e in after.exclusions}
    for tool, target in dict.fromkeys((*new, *old)):
        was, is_ = old.get((tool, target), ABSENT), new.get((tool, target), ABSENT)
        if was == is_:
            continue
        # A tool or target that only one side has is told by that.
        is_shared = target in before.targets and target in after.targets
        event = "added" if was is ABSENT else "removed" if is_ is ABSENT else "changed"
        grades, reason = None, ""
        if event != "changed" and not (tool in there and tool in had and is_shared):
            grades = Grades()
            reason = "the tool or the target is not on both sides"
        elif event == "added":
            grades = _lost_with(target)
            reason = f"that is what {format_value(target)} is for"
        yield make_change(
            files._replace(tool=tool) if tool in there else files,
            f"toolset.exclusions/{event}",
            path,
            was,
            is_,
            grades=grades,
            reason=reason,
            tool=tool,
            target=target,
        )


def _lost_with(target: str) -> Grades:
    """What it means for a tool that it is gone from a target."""
    known = load_table_rules(())
    of_target = known.get(f"target.{target}/unset") or known["target/unset"]
    return of_target.grades


def _specs(before: Toolset, after: Toolset) -> Iterator[Change]:
    """Resources and MCP prompts that come and go, and files that hold something else."""
    old, new = (
        {(one.kind, one.name): one for one in side.mcp_specs}
        for side in (before, after)
    )
    for (kind, name), spec, is_there in list_unshared_items(old, new):
        files = pair_spec_files(after.name, spec, spec)
        yield make_presence_change(files, kind, ("name",), name, is_there)
    contents: Mapping[str, Any] = {one.name: one for one in before.mcp_resources}
    for one in after.mcp_resources:
        was = contents.get(one.name)
        if was is None or was.file != one.file or was.content == one.content:
            continue
        message = f"{format_value(one.file)} holds something else"
        digests = [_digest(side.content) for side in (was, one)]
        files = pair_spec_files(after.name, was, one)
        rule = load_table_rules(())["resource.file/changed"]
        yield files.build_change(rule, ("file",), message, *digests)


def _digest(content: bytes | None) -> str:
    return hashlib.sha256(content or b"").hexdigest()[:12]
