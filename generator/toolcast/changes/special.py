"""What a table of fields cannot say: commands, actions, names, tools that are left out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

from ..facts.cli_commands import CliPositional, parse_usage
from ..model.model import Action, Toolset, ToolSpec, Workspace
from .change import ABSENT, Change, Grade, Grades, SpecFiles, ToolPair, files_of, quoted
from .state import spec_files
from .table import row_of, rows

__all__ = ["compare_tools", "compare_toolsets", "compare_workspaces"]


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
            rule = row_of("toolset.folder/changed")
            message = f"the toolset is in {quoted(folders[1])} instead of {quoted(folders[0])}"
            yield files._replace(toolset=name).changed(rule, path, message, *folders)
    orders = [n for n in old if n in new], [n for n in new if n in old]
    if orders[0] != orders[1]:
        message = "the toolsets are listed in another order"
        yield files.changed(row_of("workspace.toolsets/moved"), path, message, *orders)


def _former_names(both: ToolPair) -> Iterator[Change]:
    old, new = both.before, both.after
    # The name that a renamed tool had is a part of the rename.
    before = dict.fromkeys((*old.renamed_from, old.name))
    after = dict.fromkeys((*new.renamed_from, new.name))
    path = ("renamed_from",)
    for name in after:
        if name not in before and name != new.name:
            message = f"calls of the former name {quoted(name)} are answered"
            rule = row_of("tool.renamed_from/added")
            yield both.files.changed(rule, path, message, after=name)
    for name in before:
        if name in after or name == old.name:
            continue
        message = f"calls of the former name {quoted(name)} are no longer answered"
        grades, reason = None, ""
        if any(tool.name == name for tool in both.toolset_after.tools):
            message = f"calls of the former name {quoted(name)} are another tool's"
            grades = Grades(call=Grade.RISKY)
            reason = f"the tool {quoted(name)} answers them"
        rule = row_of("tool.renamed_from/removed")
        yield both.files.changed(
            rule, path, message, before=name, grades=grades, reason=reason
        )


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
    event, word = "changed", "other"
    if _is_more(after, before):
        event, word = "extended", "more"
    elif _is_more(before, after):
        event, word = "cut", "fewer"
    yield both.files.changed(
        row_of(f"tool.cli.usage/{event}"),
        ("cli", "usage"),
        f"the command takes {word} arguments by place: {quoted(usages[1])} instead of"
        f" {quoted(usages[0])}",
        usages[0] or ABSENT,
        usages[1] or ABSENT,
    )


def _is_more(more: tuple[CliPositional, ...], less: tuple[CliPositional, ...]) -> bool:
    """Whether whoever gives the fewer arguments still can, where they take more."""
    is_same = more[: len(less)] == less
    return is_same and all(one.optional for one in more[len(less) :])


def _one_of(both: ToolPair, old: Action, new: Action) -> Iterator[Change]:
    before, after = set(old.requires_any), set(new.requires_any)
    if before == after:
        return
    words = " or ".join(map(quoted, new.requires_any)) or "none of them"
    message = f"the action {quoted(new.name)} needs {words}"
    # To need one of none is to need none.
    for event, happened in (
        ("narrowed", bool(after) and (not before or bool(before - after))),
        ("widened", bool(before) and (not after or bool(after - before))),
    ):
        if happened:
            yield both.files.changed(
                row_of(f"tool.actions.values.requires_any/{event}"),
                ("actions", "values", new.name, "requires_any"),
                message,
                list(old.requires_any) or ABSENT,
                list(new.requires_any) or ABSENT,
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
        if was == is_:
            continue
        what = (
            "parameters that the schema does not name" if name == "*" else quoted(name)
        )
        verb, event = ("takes", "added") if is_ else ("refuses", "removed")
        yield both.files.changed(
            row_of(f"tool.actions.values.accepts/{event}"),
            ("actions", "values", new.name, "accepts"),
            f"the action {quoted(new.name)} {verb} {what}",
            ABSENT if is_ else name,
            name if is_ else ABSENT,
        )


def _takes_any(tool: ToolSpec) -> bool:
    """Whether a call may give parameters that the schema does not name."""
    return tool.parameters.get("additionalProperties") is not False


def _reserved_names(before: Toolset, after: Toolset) -> Iterator[Change]:
    files, path = files_of(before, after), ("reserved_names",)
    old, new = before.reserved_names, after.reserved_names
    had, has = (
        {name for tool in side.tools for name in (tool.name, *tool.renamed_from)}
        for side in (before, after)
    )
    for name, reason in new.items():
        if name not in old:
            rule = row_of("toolset.reserved_names/added")
            message = f"the name {quoted(name)} is reserved: {quoted(reason)}"
            yield files.changed(rule, path, message, after=name)
        elif old[name] != reason:
            rule = row_of("toolset.reserved_names/changed")
            message = f"the name {quoted(name)} is reserved for another reason"
            values = {name: old[name]}, {name: reason}
            yield files.changed(rule, path, message, *values)
    for name in old:
        if name not in new:
            is_tool = name in has and name not in had
            event, words = "removed", "is not reserved any more"
            if is_tool:
                event, words = "reused", "is a tool's"
            rule = row_of(f"toolset.reserved_names/{event}")
            message = f"the reserved name {quoted(name)} {words}"
            yield files.changed(rule, path, message, before=name)


def _exclusions(before: Toolset, after: Toolset) -> Iterator[Change]:
    files, path = files_of(before, after), ("exclusions",)
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
        grades, reason = None, ""
        if not (tool in there and tool in had and is_shared):
            grades = Grades()
            reason = "the tool or the target is not on both sides"
        subject = f"{quoted(tool)} is left out of {quoted(target)}"
        if was is not ABSENT and is_ is not ABSENT:
            event, message = "changed", f"{subject} for another reason"
            grades, reason = None, ""
        elif is_ is not ABSENT:
            event, message = "added", f"{subject}: {quoted(is_)}"
            if grades is None:
                grades = _lost_with(target)
                reason = f"that is what {quoted(target)} is for"
        else:
            event = "removed"
            message = f"{quoted(tool)} is no longer left out of {quoted(target)}"
        where = files._replace(tool=tool) if tool in there else files
        rule = row_of(f"toolset.exclusions/{event}")
        yield where.changed(rule, path, message, was, is_, grades=grades, reason=reason)


def _lost_with(target: str) -> Grades:
    """What it means for a tool that it is gone from a target."""
    known = rows(())
    of_target = known.get(f"target.{target}/unset") or known["target/unset"]
    return of_target.grades


def _specs(before: Toolset, after: Toolset) -> Iterator[Change]:
    """Resources and MCP prompts that come and go, and files that hold something else."""
    old, new = (
        {(one.kind, one.name): one for one in side.mcp_specs}
        for side in (before, after)
    )
    for event, side, other, words in (
        ("added", new, old, "is new"),
        ("removed", old, new, "is gone"),
    ):
        for (kind, name), spec in side.items():
            if (kind, name) in other:
                continue
            message = f"the {kind} {quoted(name)} {words}"
            values = (ABSENT, name) if event == "added" else (name, ABSENT)
            files = spec_files(after.name, spec, spec)
            yield files.changed(row_of(f"{kind}/{event}"), ("name",), message, *values)
    contents: Mapping[str, Any] = {one.name: one for one in before.mcp_resources}
    for one in after.mcp_resources:
        was = contents.get(one.name)
        if was is None or was.file != one.file or was.content == one.content:
            continue
        message = f"{quoted(one.file)} holds something else"
        digests = [_digest(side.content) for side in (was, one)]
        files = spec_files(after.name, was, one)
        rule = rows(())["resource.file/changed"]
        yield files.changed(rule, ("file",), message, *digests)


def _digest(content: bytes | None) -> str:
    return hashlib.sha256(content or b"").hexdigest()[:12]
