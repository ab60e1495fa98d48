"""Compare names, actions, commands, exclusions and other related fields."""

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

_RISKY_FOR_CALLS = Grades(call=Grade.RISKY)


def compare_tools(pair: ToolPair) -> Iterator[Change]:
    """Yield the changes of a tool's previous names, command usage and actions.

    Actions are compared only if both versions have the same action.
    """
    yield from _compare_renamed_from(pair)
    yield from _compare_usage(pair)
    old_actions, new_actions = pair.before.actions, pair.after.actions
    if old_actions is not None and new_actions is not None:
        old_by_name = {action.name: action for action in old_actions.values}
        for new in new_actions.values:
            old = old_by_name.get(new.name)
            if old is not None:
                yield from _compare_required_parameters(pair, old, new)
                yield from _compare_accepted_parameters(pair, old, new)


def compare_toolsets(
    before: Toolset,
    after: Toolset,
    workspace_before: Workspace,
    workspace_after: Workspace,
) -> Iterator[Change]:
    """Yield the changes of reserved names, exclusions, resources and MCP prompts."""
    yield from _compare_reserved_names(before, after)
    yield from _compare_exclusions(before, after)
    yield from _compare_mcp_specs(before, after)
    yield from _compare_resource_contents(before, after)


def compare_workspaces(before: Workspace, after: Workspace) -> Iterator[Change]:
    """Yield the changes of the toolsets' folders and order in toolcast.yaml.

    The module `tools` reports added and removed toolsets.
    """
    files = SpecFiles("", "", before.source, after.source)
    old_toolsets = {toolset.name: toolset for toolset in before.toolsets}
    new_toolsets = {toolset.name: toolset for toolset in after.toolsets}
    path = ("toolsets",)
    for name, toolset in new_toolsets.items():
        old = old_toolsets.get(name)
        if old is not None and old.folder != toolset.folder:
            folders = old.folder, toolset.folder
            toolset_files = files._replace(toolset=name)
            yield make_change(toolset_files, "toolset.folder/changed", path, *folders)
    old_order = [name for name in old_toolsets if name in new_toolsets]
    new_order = [name for name in new_toolsets if name in old_toolsets]
    if old_order != new_order:
        yield make_change(files, "workspace.toolsets/moved", path, old_order, new_order)


def _compare_renamed_from(pair: ToolPair) -> Iterator[Change]:
    """Yield the added and removed previous names of a tool.

    A removed name that another tool now has is risky for calls: that tool answers them.
    """
    old, new = pair.before, pair.after
    # A rename adds the old name to `renamed_from`; the rename is reported separately.
    old_names = dict.fromkeys((*old.renamed_from, old.name))
    new_names = dict.fromkeys((*new.renamed_from, new.name))
    path = ("renamed_from",)
    for name in new_names:
        if name not in old_names and name != new.name:
            yield make_change(pair.files, "tool.renamed_from/added", path, after=name)
    rule_id = "tool.renamed_from/removed"
    for name in old_names:
        if name in new_names or name == old.name:
            continue
        # Calls with the removed name still succeed, but reach the tool that now has it.
        if any(tool.name == name for tool in pair.toolset_after.tools):
            yield make_change(
                pair.files,
                rule_id,
                path,
                name,
                form="taken",
                grades=_RISKY_FOR_CALLS,
                reason=f"the tool {format_value(name)} answers them",
            )
        else:
            yield make_change(pair.files, rule_id, path, name, form="unknown")


def _compare_usage(pair: ToolPair) -> Iterator[Change]:
    """Yield the change of a command's usage, which lists positional arguments.

    The event is `extended` if only optional arguments were appended, `cut` if they were
    removed from the end, and otherwise `changed`. Nothing is yielded if a version has
    no command.
    """
    old_cli, new_cli = pair.before.cli, pair.after.cli
    if old_cli is None or new_cli is None or not (old_cli.keyword and new_cli.keyword):
        return
    old_usage, new_usage = old_cli.usage or "", new_cli.usage or ""
    # Parsed usages are equal if only the white space differs.
    before, after = parse_usage(old_usage), parse_usage(new_usage)
    if before == after:
        return
    event = "changed"
    if _is_optional_extension(after, before):
        event = "extended"
    elif _is_optional_extension(before, after):
        event = "cut"
    yield make_change(
        pair.files,
        f"tool.cli.usage/{event}",
        ("cli", "usage"),
        old_usage or ABSENT,
        new_usage or ABSENT,
        was=old_usage,
        now=new_usage,
    )


def _is_optional_extension(
    longer: tuple[CliPositional, ...], shorter: tuple[CliPositional, ...]
) -> bool:
    """Return whether `longer` is `shorter` with only optional arguments appended."""
    has_same_start = longer[: len(shorter)] == shorter
    return has_same_start and all(arg.optional for arg in longer[len(shorter) :])


def _compare_required_parameters(
    pair: ToolPair, old: Action, new: Action
) -> Iterator[Change]:
    """Yield the changes of `requires_any`, of which an action needs one parameter.

    A list that loses some names and gains others is both `narrowed` and `widened`. An
    empty list requires nothing.
    """
    before, after = set(old.requires_any), set(new.requires_any)
    if before == after:
        return
    # An empty `requires_any` requires nothing: it accepts more calls than any list.
    is_narrowed = bool(after) and (not before or bool(before - after))
    is_widened = bool(before) and (not after or bool(after - before))
    events = []
    if is_narrowed:
        events.append("narrowed")
    if is_widened:
        events.append("widened")
    needed = " or ".join(map(format_value, new.requires_any)) or "none of them"
    for event in events:
        yield make_change(
            pair.files,
            f"tool.actions.values.requires_any/{event}",
            ("actions", "values", new.name, "requires_any"),
            list(old.requires_any) or ABSENT,
            list(new.requires_any) or ABSENT,
            action=new.name,
            needed=needed,
        )


def _compare_accepted_parameters(
    pair: ToolPair, old: Action, new: Action
) -> Iterator[Change]:
    """Yield a change for each parameter that an action started or stopped accepting.

    The name `*` represents all parameters that the schema does not declare.
    """
    # Without `accepts` an action accepts every parameter.
    old_accepted = None if old.accepts is None else {*old.parameters}
    new_accepted = None if new.accepts is None else {*new.parameters}
    shared_names = [
        name for name in pair.after.properties if name in pair.before.properties
    ]
    names = dict.fromkeys((*shared_names, *old.parameters, *new.parameters))
    # The parameter that selects the action is always accepted.
    names.pop(pair.after.actions.parameter if pair.after.actions else "", None)
    if _accepts_undeclared(pair.before) and _accepts_undeclared(pair.after):
        names["*"] = None
    for name in names:
        was_accepted = old_accepted is None or name in old_accepted
        is_accepted = new_accepted is None or name in new_accepted
        if was_accepted != is_accepted:
            yield make_presence_change(
                pair.files,
                "tool.actions.values.accepts",
                ("actions", "values", new.name, "accepts"),
                name,
                is_accepted,
                form="unnamed" if name == "*" else "named",
                action=new.name,
            )


def _accepts_undeclared(tool: ToolSpec) -> bool:
    """Return whether calls can have parameters that the schema does not declare."""
    return tool.parameters.get("additionalProperties") is not False


def _compare_reserved_names(before: Toolset, after: Toolset) -> Iterator[Change]:
    files, path = pair_toolset_files(before, after), ("reserved_names",)
    old, new = before.reserved_names, after.reserved_names
    for name, reason in new.items():
        if name not in old:
            rule_id = "toolset.reserved_names/added"
            yield make_change(files, rule_id, path, after=name, why=reason)
        elif old[name] != reason:
            values = {name: old[name]}, {name: reason}
            rule_id = "toolset.reserved_names/changed"
            yield make_change(files, rule_id, path, *values, name=name)
    old_names, new_names = _list_all_names(before), _list_all_names(after)
    for name in old:
        if name not in new:
            is_reused = name in new_names and name not in old_names
            event = "reused" if is_reused else "removed"
            yield make_change(files, f"toolset.reserved_names/{event}", path, name)


def _list_all_names(toolset: Toolset) -> set[str]:
    """Return the current and previous names of a toolset's tools."""
    return {name for tool in toolset.tools for name in (tool.name, *tool.renamed_from)}


def _compare_exclusions(before: Toolset, after: Toolset) -> Iterator[Change]:
    """Yield the changes of the tools that a toolset excludes from targets.

    Tools are matched by their new names.
    """
    files, path = pair_toolset_files(before, after), ("exclusions",)
    new_names = {
        name: tool.name
        for tool in after.tools
        for name in (*tool.renamed_from, tool.name)
    }
    tools = {tool.name for tool in after.tools}
    old_tools = {new_names.get(tool.name) for tool in before.tools}
    old_reasons = {
        (
            new_names.get(exclusion.tool, exclusion.tool),
            exclusion.target,
        ): exclusion.reason
        for exclusion in before.exclusions
    }
    new_reasons = {(e.tool, e.target): e.reason for e in after.exclusions}
    for tool, target in dict.fromkeys((*new_reasons, *old_reasons)):
        old = old_reasons.get((tool, target), ABSENT)
        new = new_reasons.get((tool, target), ABSENT)
        if old == new:
            continue
        event = "changed"
        if old is ABSENT:
            event = "added"
        elif new is ABSENT:
            event = "removed"
        # An added tool could have been excluded in advance.
        has_tool = tool in tools and (tool in old_tools or event == "removed")
        has_target = target in before.targets and target in after.targets
        grades, reason = None, ""
        if event != "changed" and not (has_tool and has_target):
            # The added or removed tool or target is graded by a change of its own.
            grades = Grades()
            reason = "the tool or the target is not in both versions"
        elif event == "added":
            grades = _get_target_removal_grades(target)
            reason = f"removing the target {format_value(target)} has the same effect"
        yield make_change(
            files._replace(tool=tool) if tool in tools else files,
            f"toolset.exclusions/{event}",
            path,
            old,
            new,
            grades=grades,
            reason=reason,
            tool=tool,
            target=target,
        )


def _get_target_removal_grades(target: str) -> Grades:
    """Return the grades of the change that removes a target from a toolset.

    Excluding a tool from the target has the same effect on the tool.
    """
    rules = load_table_rules(())
    rule = rules.get(f"target.{target}/unset") or rules["target/unset"]
    return rule.grades


def _compare_mcp_specs(before: Toolset, after: Toolset) -> Iterator[Change]:
    """Yield the added and removed resources and MCP prompts."""
    old_specs = {(spec.kind, spec.name): spec for spec in before.mcp_specs}
    new_specs = {(spec.kind, spec.name): spec for spec in after.mcp_specs}
    for (kind, name), spec, is_added in list_unshared_items(old_specs, new_specs):
        files = pair_spec_files(after.name, spec, spec)
        yield make_presence_change(files, kind, ("name",), name, is_added)


def _compare_resource_contents(before: Toolset, after: Toolset) -> Iterator[Change]:
    """Yield the resources whose file has the same name but different content.

    The old and the new value of each change are short digests of the contents.
    """
    old_resources: Mapping[str, Any] = {
        resource.name: resource for resource in before.mcp_resources
    }
    for new in after.mcp_resources:
        old = old_resources.get(new.name)
        if old is None or old.file != new.file or old.content == new.content:
            continue
        yield pair_spec_files(after.name, old, new).build_change(
            load_table_rules(())["resource.file/changed"],
            ("file",),
            f"the content of {format_value(new.file)} is changed",
            _compute_digest(old.content),
            _compute_digest(new.content),
        )


def _compute_digest(content: bytes | None) -> str:
    return hashlib.sha256(content or b"").hexdigest()[:12]
