"""What users of a tool were promised: grades of a draft's or a beta's changes are relaxed.

What counts is the promise before the change: nobody can take one back by breaking it in the
same breath.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...model.model import Toolset, Workspace
from ..change import Both, Change, ChangeRule, Grade, Grades, files_of, raw
from ..family import Family, Rules
from .tool_life import Matched

__all__ = ["FAMILY", "relaxed"]

_LEVELS = ("draft", "beta", "stable")
_Levels = dict[tuple[str, str], str]
"""The promise of a tool by the names of its toolset and its own, empty for the toolset's."""

RULES = Rules()
LOWERED, RAISED = RULES.pair(
    "stability/lowered",
    "Users are promised less than before: later changes may break them unannounced.",
    Grades(call=Grade.RISKY, code=Grade.RISKY),
    "stability/raised",
    "Users are promised more than before.",
    Grades(),
)


def relaxed(
    changes: Iterable[Change], matched: Matched, before: Workspace
) -> Iterator[Change]:
    """The changes with the grades that the promises before them leave.

    Of a draft nothing is breaking, and nothing risky for callers, prompts and code. Of a
    beta what would be breaking is risky. Who has a tool, and what runs for it, is no matter
    of stability: there a draft is as a beta.
    """
    levels = _levels(matched, before)
    for change in changes:
        level = levels.get((change.toolset, change.tool), "stable")
        grades = _relaxed(change.grades, level)
        if grades == change.grades or change.rule in FAMILY.rules:
            yield change
            continue
        what = "the tool" if change.tool else "each tool of the toolset"
        told = f"{what} was {'a draft' if level == 'draft' else 'beta'}"
        reason = f"{change.reason}; {told}" if change.reason else told
        yield replace(change, grades=grades, reason=reason)


def _levels(matched: Matched, before: Workspace) -> _Levels:
    levels: _Levels = {}
    for toolset in before.toolsets:
        own = {tool.name: toolset.stability_of(tool) for tool in toolset.tools}
        for name, level in own.items():
            levels[toolset.name, name] = level
        levels[toolset.name, ""] = _highest([toolset.stability, *own.values()])
    for old, new in matched.toolsets:
        levels[new.name, ""] = levels[old.name, ""]
    for both in matched.tools:
        here = both.toolset_after.name, both.after.name
        levels[here] = both.toolset_before.stability_of(both.before)
    return levels


def _highest(levels: list[str]) -> str:
    return max(levels, key=_LEVELS.index)


def _relaxed(grades: Grades, level: str) -> Grades:
    if level == "stable":
        return grades
    beta = Grades(*(min(grade, Grade.RISKY) for grade in grades))
    return beta if level == "beta" else Grades(attachment=beta.attachment)


def compare_tools(both: Both) -> Iterator[Change]:
    """The change of what a tool promises by itself."""
    values = raw(both.before, "stability"), raw(both.after, "stability")
    if values[0] != values[1]:
        levels = (
            both.toolset_before.stability_of(both.before),
            both.toolset_after.stability_of(both.after),
        )
        rule = _rule(*levels)
        if rule is not None:
            message = f"the tool is {levels[1]}, and was {levels[0]}"
            yield both.files.changed(
                rule, ("stability",), message, values[0], values[1]
            )


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The change of what a toolset promises for its tools."""
    rule = _rule(before.stability, after.stability)
    if rule is not None:
        yield files_of(before, after).changed(
            rule,
            ("stability",),
            f"the toolset is {after.stability}, and was {before.stability}",
            raw(before, "stability"),
            raw(after, "stability"),
        )


def _rule(before: str, after: str) -> ChangeRule | None:
    if before == after:
        return None
    return LOWERED if _LEVELS.index(after) < _LEVELS.index(before) else RAISED


FAMILY = Family(
    rules=RULES,
    tool_fields=["stability"],
    toolset_fields=["stability"],
    compare_tools=compare_tools,
    compare_toolsets=compare_toolsets,
)
"""What users are promised."""
