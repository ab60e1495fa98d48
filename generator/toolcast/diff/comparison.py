"""Compare two versions of a project: all changes and effects of `toolcast diff`."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from ..extensions import CHANGES, ExtensionError, guard_function, load_contributions
from ..mcp_client.server_listing import ServerListing
from ..model.model import Toolset, Workspace
from . import access, cross_field_changes, selection_cases, servers, text_changes
from .change import Change, ChangeRule, Grade, Grades, ToolPair
from .effects import Effect, EffectKind, list_effects
from .listing_changes import compare_unspecified_parts, grade_as_unreviewed
from .listing_workspace import ListingOwner
from .moved_descriptions import merge_moved_descriptions
from .schemas import schema_changes
from .schemas.schema_rules import RULES_BY_ID
from .state import (
    FilePair,
    build_tool_pair,
    build_toolset_pair,
    build_workspace_pair,
    pair_mcp_specs,
)
from .table import load_table_rules
from .tools import MatchedTools, match_tools
from .walk import compare_fields

_Rules = Mapping[str, ChangeRule]
_CompareTool = Callable[[ToolPair], Iterator[Change]]
_CompareToolset = Callable[[Toolset, Toolset, Workspace, Workspace], Iterator[Change]]

_TOOL_COMPARISONS: tuple[_CompareTool, ...] = (
    schema_changes.compare_tools,
    text_changes.compare_tools,
    access.compare_tools,
    cross_field_changes.compare_tools,
)
"""Comparisons of a tool that need more than the values of its fields."""

_TOOLSET_COMPARISONS: tuple[_CompareToolset, ...] = (
    text_changes.compare_toolsets,
    access.compare_toolsets,
    servers.compare_toolsets,
    cross_field_changes.compare_toolsets,
    selection_cases.compare_toolsets,
)
"""Comparisons of a toolset that need more than the values of its fields."""

_STABILITY_LEVELS = ("draft", "beta", "stable")
"""Values of `stability` in ascending order."""
_STABILITY_RULES = ("tool.stability/", "toolset.stability/")
_Levels = dict[tuple[str, str], str]
"""Stability by the names of toolset and tool; an empty tool name is the toolset itself."""


class Comparison(NamedTuple):
    """The differences between two versions of a project.

    Attributes:
        changes: the graded changes of the specs, ordered by toolset, tool, path and rule id.
            Acceptances and `--fail-on` apply to changes.
        effects: consequences of all changes together for clients and providers, ordered by
            toolset, tool, kind, and client or provider. They have no grades: each follows from changes.
    """

    changes: list[Change]
    effects: list[Effect]


@dataclass(frozen=True)
class ChangeFunctions:
    """An extension's comparisons of fields that annotations cannot describe.

    The last argument of each function is the table of change kinds by id, which includes
    those of the extension's fields.

    Attributes:
        compare_tool: yields the changes of a tool that exists in both versions.
        compare_toolset: yields the changes of a toolset, from its old and its new version.
    """

    compare_tool: Callable[[ToolPair, _Rules], Iterator[Change]] | None = None
    compare_toolset: Callable[[Toolset, Toolset, _Rules], Iterator[Change]] | None = (
        None
    )


def compare(
    before: Workspace, after: Workspace, today: datetime.date | None = None
) -> Comparison:
    """Compare two versions of a workspace.

    Args:
        before: the old version.
        after: the new version.
        today: the date with which announced removal dates are compared; default: the
            current date.

    Raises:
        ExtensionError: an extension that the workspace lists cannot be used.
    """
    matched = match_tools(before, after, today)
    extensions = tuple(dict.fromkeys((*before.extensions, *after.extensions)))
    rules = load_change_rules(extensions)
    changes = list(matched.changes)
    changes += cross_field_changes.compare_workspaces(before, after)
    for file_pair in _pair_files(matched, before, after, extensions):
        changes += compare_fields(file_pair)
    for old, new in matched.toolsets:
        for compare_toolset in _TOOLSET_COMPARISONS:
            changes += compare_toolset(old, new, before, after)
    for pair in _list_changed_tools(matched):
        for compare_tool in _TOOL_COMPARISONS:
            changes += compare_tool(pair)
    changes += _compare_with_extensions(matched, extensions)
    changes = list(merge_moved_descriptions(changes, matched.tools))
    # Comparisons attach built-in rules: replace each with the rule of the table that
    # includes extensions.
    changes = [replace(change, rule=rules[change.rule.id]) for change in changes]
    changes = list(_apply_stability(changes, matched, before))
    changes.sort(key=lambda c: (c.toolset, c.tool, list(map(str, c.path)), c.rule.id))
    has_difference = bool(changes or _list_changed_tools(matched))
    effects = list_effects(matched, before, after) if has_difference else ()
    return Comparison(
        changes, sorted(effects, key=lambda e: (e.toolset, e.tool, e.kind, e.reader))
    )


def compare_tool_lists(
    workspaces: tuple[Workspace, Workspace],
    listings: tuple[ServerListing, ServerListing],
    today: datetime.date | None = None,
) -> Comparison:
    """Compare two tool listings.

    New values are at least risky for prompts, because no maintainer has reviewed them.

    Args:
        workspaces: the workspaces of the listings, made by `build_list_workspace`.
        listings: the old and the new listing.
        today: see `compare`.
    """
    comparison = compare(*workspaces, today)
    (toolset,) = workspaces[1].toolsets
    owner = ListingOwner(toolset.name, toolset.source.file)
    changes = [
        *comparison.changes,
        *compare_unspecified_parts(listings, owner, comparison.changes),
    ]
    # An added or removed tool is already a change; a visibility effect would repeat it.
    effects = [e for e in comparison.effects if e.kind is not EffectKind.VISIBILITY]
    definitions = {tool["name"]: tool for tool in listings[1].tools}
    changes = [
        # An added tool is reported with its complete definition, not only its name.
        (
            replace(change, after=definitions.get(change.tool, change.after))
            if change.rule.id == "tool/added"
            else change
        )
        for change in changes
    ]
    return Comparison([grade_as_unreviewed(change) for change in changes], effects)


@cache
def load_change_rules(extensions: tuple[str, ...]) -> Mapping[str, ChangeRule]:
    """Return all change kinds by id.

    Raises:
        ExtensionError: an extension cannot be used.
    """
    return {**load_table_rules(extensions), **RULES_BY_ID}


def _list_changed_tools(matched: MatchedTools) -> list[ToolPair]:
    """Return the matched tools whose versions can differ.

    Equal files of two versions share one loaded spec, so identity is enough.
    """
    return [pair for pair in matched.tools if pair.before is not pair.after]


def _pair_files(
    matched: MatchedTools,
    before: Workspace,
    after: Workspace,
    extensions: tuple[str, ...],
) -> Iterator[FilePair]:
    """Yield both versions of each file that can differ.

    Files of added and removed toolsets and tools are omitted.
    """
    yield build_workspace_pair(before, after)
    for old, new in matched.toolsets:
        yield build_toolset_pair(old, new, after.package, extensions)
        yield from pair_mcp_specs(old, new)
    for pair in _list_changed_tools(matched):
        tools = pair.before, pair.after
        toolsets = pair.toolset_before, pair.toolset_after
        yield build_tool_pair(pair.files, tools, toolsets, extensions)


@cache
def _load_functions(extensions: tuple[str, ...]) -> tuple[ChangeFunctions, ...]:
    """Return the comparisons of extensions.

    Raises:
        ExtensionError: an entry point cannot be loaded or is not a `ChangeFunctions`.
    """
    functions = []
    for entry_point, value in load_contributions(extensions, CHANGES):
        if not isinstance(value, ChangeFunctions):
            raise ExtensionError(f"{entry_point} is not a toolcast ChangeFunctions")
        functions.append(_guard_change_functions(entry_point, value))
    return tuple(functions)


def _guard_change_functions(
    entry_point: str, functions: ChangeFunctions
) -> ChangeFunctions:
    """Return an extension's functions, wrapped so that errors name the extension.

    A missing function stays None.
    """
    compare_tool = functions.compare_tool
    compare_toolset = functions.compare_toolset
    # A generator raises only during iteration, so the guard must cover a complete list.
    return ChangeFunctions(
        compare_tool
        and guard_function(entry_point, lambda *a: iter(list(compare_tool(*a)))),
        compare_toolset
        and guard_function(entry_point, lambda *a: iter(list(compare_toolset(*a)))),
    )


def _compare_with_extensions(
    matched: MatchedTools, extensions: tuple[str, ...]
) -> Iterator[Change]:
    rules = load_table_rules(extensions)
    for functions in _load_functions(extensions):
        if functions.compare_toolset is not None:
            for old, new in matched.toolsets:
                yield from functions.compare_toolset(old, new, rules)
        if functions.compare_tool is not None:
            for pair in _list_changed_tools(matched):
                yield from functions.compare_tool(pair, rules)


def _apply_stability(
    changes: Iterable[Change], matched: MatchedTools, before: Workspace
) -> Iterator[Change]:
    """Yield the changes; lower their grades as the old version's `stability` allows.

    The new version's stability is ignored: a commit that lowers it must not lower its own
    grades. Changes of `stability` itself keep their grades.
    """
    levels = _list_stability_levels(matched, before)
    for change in changes:
        level = levels.get((change.toolset, change.tool), "stable")
        grades = _limit_grades(change.grades, level)
        if grades == change.grades or change.rule.id.startswith(_STABILITY_RULES):
            yield change
            continue
        subject = "the tool" if change.tool else "each tool of the toolset"
        reason = f"{subject} was {'a draft' if level == 'draft' else 'beta'}"
        if change.reason:
            reason = f"{change.reason}; {reason}"
        yield replace(change, grades=grades, reason=reason)


def _list_stability_levels(matched: MatchedTools, before: Workspace) -> _Levels:
    """Return the old stability of each toolset and tool, by the old and the new names."""
    levels: _Levels = {}
    for toolset in before.toolsets:
        tool_levels = {tool.name: toolset.get_stability(tool) for tool in toolset.tools}
        for name, level in tool_levels.items():
            levels[toolset.name, name] = level
        # A change of toolset.yaml can affect every tool, so the level of the most stable
        # tool applies.
        all_levels = [toolset.stability, *tool_levels.values()]
        levels[toolset.name, ""] = max(all_levels, key=_STABILITY_LEVELS.index)
    for old, new in matched.toolsets:
        levels[new.name, ""] = levels[old.name, ""]
    for pair in matched.tools:
        level = pair.toolset_before.get_stability(pair.before)
        levels[pair.toolset_after.name, pair.after.name] = level
    return levels


def _limit_grades(grades: Grades, level: str) -> Grades:
    """Return grades, limited to the maximum that a stability level allows.

    Changes of a beta tool are at most risky. Changes of a draft are safe, except for the
    audience `access`, where a draft has the limit of a beta tool: the stability of a tool
    does not control which clients can use the tool.
    """
    if level == "stable":
        return grades
    beta_grades = Grades(*(min(grade, Grade.RISKY) for grade in grades))
    return beta_grades if level == "beta" else Grades(access=beta_grades.access)
