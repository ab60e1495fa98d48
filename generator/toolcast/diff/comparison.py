"""Compares two states of a project: the whole of `toolcast diff` but for what it prints."""

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
from .lists import ListingOwner, compare_unspecified_parts, grade_as_unreviewed
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
from .text_changes import merge_moved_descriptions
from .tools import MatchedTools, match_tools
from .walk import compare_fields

_Rows = Mapping[str, ChangeRule]
_OfTool = Callable[[ToolPair], Iterator[Change]]
_OfToolset = Callable[[Toolset, Toolset, Workspace, Workspace], Iterator[Change]]

_OF_TOOL: tuple[_OfTool, ...] = (
    schema_changes.compare_tools,
    text_changes.compare_tools,
    access.compare_tools,
    cross_field_changes.compare_tools,
)
"""What tells the changes of a tool that need more than its fields' values."""
_OF_TOOLSET: tuple[_OfToolset, ...] = (
    text_changes.compare_toolsets,
    access.compare_toolsets,
    servers.compare_toolsets,
    cross_field_changes.compare_toolsets,
    selection_cases.compare_toolsets,
)
_LEVELS = ("draft", "beta", "stable")
_Levels = dict[tuple[str, str], str]
"""The promise of a tool by the names of its toolset and its own, empty for the toolset's."""
_PROMISES = ("tool.stability/", "toolset.stability/")


class Comparison(NamedTuple):
    """What is different between two states of a project.

    Attributes:
        changes: what the specs say differently, graded; in order by toolset, tool, path and
            rule. Acceptances and limits of grades are about these.
        effects: what follows from all of them together for those who read the tools:
            clients, programs, providers. They have no grades of their own, since a change
            beside them has them; in order by toolset, tool, kind and reader.
    """

    changes: list[Change]
    effects: list[Effect]


@dataclass(frozen=True)
class ChangeFunctions:
    """What an extension tells of its fields that their annotations cannot say.

    Each function is given the kinds of changes by their ids: those that the annotations of
    its fields declare.

    Attributes:
        of_tool: tells the changes of a tool that both sides have.
        of_toolset: tells those of a toolset, given before and after.
    """

    compare_tool: Callable[[ToolPair, _Rows], Iterator[Change]] | None = None
    compare_toolset: Callable[[Toolset, Toolset, _Rows], Iterator[Change]] | None = None


def compare(
    before: Workspace, after: Workspace, today: datetime.date | None = None
) -> Comparison:
    """What has changed, and what that comes to.

    Args:
        today: the day that decides whether a removal was announced; default: the clock's.

    Raises:
        ExtensionError: a listed extension cannot be used.
    """
    matched = match_tools(before, after, today)
    changes = list(matched.changes)
    extensions = tuple(dict.fromkeys((*before.extensions, *after.extensions)))
    changes += cross_field_changes.compare_workspaces(before, after)
    for pair in _pairs(matched, before, after, extensions):
        changes += compare_fields(pair)
    for old, new in matched.toolsets:
        for of_toolset in _OF_TOOLSET:
            changes += of_toolset(old, new, before, after)
    for both in matched.tools:
        # What both sides have alike was loaded once.
        if both.before is not both.after:
            for of_tool in _OF_TOOL:
                changes += of_tool(both)
    changes += _of_extensions(matched, extensions)
    changes = list(merge_moved_descriptions(changes, matched.tools))
    known = load_change_rules(extensions)
    changes = [replace(change, rule=known[change.rule.id]) for change in changes]
    changes = list(_relaxed(changes, matched, before))
    changes.sort(key=lambda c: (c.toolset, c.tool, list(map(str, c.path)), c.rule.id))
    is_same = not changes and all(both.before is both.after for both in matched.tools)
    effects = () if is_same else list_effects(matched, before, after)
    order = sorted(effects, key=lambda e: (e.toolset, e.tool, e.kind, e.reader))
    return Comparison(changes, order)


def compare_tool_lists(
    workspaces: tuple[Workspace, Workspace],
    listings: tuple[ServerListing, ServerListing],
    today: datetime.date | None = None,
) -> Comparison:
    """What has changed from one list to another, and what the tools cost now.

    Args:
        workspaces: both lists as `list_workspace` has them, the old one first.
        listings: the same as they came.
        today: as of `compare`.
    """
    found = compare(*workspaces, today)
    (toolset,) = workspaces[1].toolsets
    owner = ListingOwner(toolset.name, toolset.source.file)
    others = compare_unspecified_parts(listings, owner, found.changes)
    effects = [one for one in found.effects if one.kind is not EffectKind.SEEN]
    return Comparison(
        [grade_as_unreviewed(one) for one in (*found.changes, *others)], effects
    )


@cache
def load_change_rules(extensions: tuple[str, ...]) -> Mapping[str, ChangeRule]:
    """Every kind of change by its id.

    Raises:
        ExtensionError: a listed extension cannot be used.
    """
    return {**load_table_rules(extensions), **RULES_BY_ID}


def _pairs(
    matched: MatchedTools,
    before: Workspace,
    after: Workspace,
    extensions: tuple[str, ...],
) -> Iterator[FilePair]:
    """The files of both sides that may differ."""
    yield build_workspace_pair(before, after)
    for old, new in matched.toolsets:
        yield build_toolset_pair(old, new, after.package, extensions)
        yield from pair_mcp_specs(old, new)
    for both in matched.tools:
        if both.before is not both.after:
            tools = both.before, both.after
            toolsets = both.toolset_before, both.toolset_after
            yield build_tool_pair(both.files, tools, toolsets, extensions)


@cache
def _functions(extensions: tuple[str, ...]) -> tuple[ChangeFunctions, ...]:
    """Those of listed extensions.

    Raises:
        ExtensionError: one cannot be loaded, or is no `ChangeFunctions`.
    """
    found = []
    for where, value in load_contributions(extensions, CHANGES):
        if not isinstance(value, ChangeFunctions):
            raise ExtensionError(f"{where} is not a toolcast ChangeFunctions")
        found.append(_held(where, value))
    return tuple(found)


def _held(where: str, functions: ChangeFunctions) -> ChangeFunctions:
    """An extension's functions, which are named when they raise."""
    of_tool, of_toolset = functions.compare_tool, functions.compare_toolset
    # A generator raises while it is gone through.
    return ChangeFunctions(
        of_tool and guard_function(where, lambda *a: iter(list(of_tool(*a)))),
        of_toolset and guard_function(where, lambda *a: iter(list(of_toolset(*a)))),
    )


def _of_extensions(
    matched: MatchedTools, extensions: tuple[str, ...]
) -> Iterator[Change]:
    known = load_table_rules(extensions)
    for functions in _functions(extensions):
        if functions.compare_toolset is not None:
            for old, new in matched.toolsets:
                yield from functions.compare_toolset(old, new, known)
        if functions.compare_tool is not None:
            for both in matched.tools:
                if both.before is not both.after:
                    yield from functions.compare_tool(both, known)


def _relaxed(
    changes: Iterable[Change], matched: MatchedTools, before: Workspace
) -> Iterator[Change]:
    """The changes with the grades that the promises before them leave.

    Nobody can take a promise back by breaking it in the same breath. Of a draft nothing is
    breaking, and nothing risky for callers, prompts and code. Of a beta what would be
    breaking is risky. Who has a tool, and what runs for it, is no matter of stability: there
    a draft is as a beta.
    """
    levels = _levels(matched, before)
    for change in changes:
        level = levels.get((change.toolset, change.tool), "stable")
        grades = _of_level(change.grades, level)
        if grades == change.grades or change.rule.id.startswith(_PROMISES):
            yield change
            continue
        what = "the tool" if change.tool else "each tool of the toolset"
        told = f"{what} was {'a draft' if level == 'draft' else 'beta'}"
        reason = f"{change.reason}; {told}" if change.reason else told
        yield replace(change, grades=grades, reason=reason)


def _levels(matched: MatchedTools, before: Workspace) -> _Levels:
    levels: _Levels = {}
    for toolset in before.toolsets:
        own = {tool.name: toolset.stability_of(tool) for tool in toolset.tools}
        for name, level in own.items():
            levels[toolset.name, name] = level
        promised = [toolset.stability, *own.values()]
        levels[toolset.name, ""] = max(promised, key=_LEVELS.index)
    for old, new in matched.toolsets:
        levels[new.name, ""] = levels[old.name, ""]
    for both in matched.tools:
        here = both.toolset_after.name, both.after.name
        levels[here] = both.toolset_before.stability_of(both.before)
    return levels


def _of_level(grades: Grades, level: str) -> Grades:
    if level == "stable":
        return grades
    beta = Grades(*(min(grade, Grade.RISKY) for grade in grades))
    return beta if level == "beta" else Grades(access=beta.access)
