"""Tools and toolsets that come, go, and change their names."""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple

from ..model.model import Toolset, ToolSpec, Workspace
from .change import ABSENT, Both, Change, ChangeRule, Family, Grade, Grades, place_of

__all__ = ["FAMILY", "Matched", "match"]

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ALL = Grades(Grade.BREAKING, Grade.BREAKING, Grade.BREAKING, Grade.BREAKING)

ADDED = ChangeRule(
    "tool/added",
    "A tool is new: who is allowed everything has it, and models may choose it.",
    Grades(),
    opposite="tool/removed",
)
REMOVED = ChangeRule(
    "tool/removed",
    "A tool is gone: calls of it fail, and so does code that names it.",
    _ALL,
    opposite="tool/added",
)
REMOVED_AS_ANNOUNCED = ChangeRule(
    "tool/removed-as-announced",
    "A tool is gone on the day that its deprecation named, or later: who has not changed over"
    " by then fails.",
    Grades(Grade.RISKY, Grade.SAFE, Grade.RISKY, Grade.RISKY),
    opposite="tool/added-past-removal",
)
ADDED_PAST_REMOVAL = ChangeRule(
    "tool/added-past-removal",
    "A tool is new, and its deprecation names a day of its removal that has come: who begins"
    " to use it loses it soon.",
    Grades(call=Grade.RISKY),
    opposite="tool/removed-as-announced",
)
RENAMED = ChangeRule(
    "tool/renamed",
    "A tool has another name, and answers calls of the old one: models learn a new name,"
    " Python imports another module, lists of clients name another tool.",
    Grades(Grade.SAFE, Grade.RISKY, Grade.BREAKING, Grade.RISKY),
    opposite="tool/renamed",
)
RENAMED_SILENTLY = ChangeRule(
    "tool/renamed-without-former-name",
    "A tool has another name, and nothing answers calls of the old one.",
    _ALL,
    opposite="tool/renamed-without-former-name",
)
MOVED = ChangeRule(
    "tool/moved",
    "A tool is in another toolset: another server lists and answers it.",
    _ALL,
    opposite="tool/moved",
)
TOOLSET_ADDED = ChangeRule(
    "toolset/added",
    "A toolset is new, with all of its tools.",
    Grades(),
    opposite="toolset/removed",
)
TOOLSET_REMOVED = ChangeRule(
    "toolset/removed",
    "A toolset is gone, with all of its tools.",
    _ALL,
    opposite="toolset/added",
)
TOOLSET_RENAMED = ChangeRule(
    "toolset/renamed",
    "A toolset has another name: its package, its server and its variables, too.",
    Grades(Grade.SAFE, Grade.SAFE, Grade.BREAKING, Grade.BREAKING),
    opposite="toolset/renamed",
)
FAMILY = Family(
    rules=(
        ADDED,
        REMOVED,
        REMOVED_AS_ANNOUNCED,
        ADDED_PAST_REMOVAL,
        RENAMED,
        RENAMED_SILENTLY,
        MOVED,
        TOOLSET_ADDED,
        TOOLSET_REMOVED,
        TOOLSET_RENAMED,
    ),
    tool_fields=frozenset(["name"]),
    toolset_fields=frozenset(["name"]),
)
"""What the two sides do not have in common: `match` finds it."""


class Matched(NamedTuple):
    """What both sides have, and the changes of what only one of them has.

    Attributes:
        toolsets: before and after.
        tools: each with its sides.
        changes: what came, went, or has another name or place.
    """

    toolsets: list[tuple[Toolset, Toolset]]
    tools: list[Both]
    changes: list[Change]


class _Owned(NamedTuple):
    """A tool with its toolset."""

    toolset: Toolset
    tool: ToolSpec


def match(
    before: Workspace, after: Workspace, today: datetime.date | None = None
) -> Matched:
    """Finds for each toolset and each tool what it was before.

    Args:
        today: the day that decides whether a removal was announced; default: the clock's.
    """
    day = today or datetime.date.today()
    toolsets, changes = _toolsets(before, after)
    gone: list[_Owned] = []
    new: list[_Owned] = []
    pairs: list[tuple[_Owned, _Owned]] = []
    now = {id(old): current for old, current in toolsets}
    for toolset in before.toolsets:
        here = now.get(id(toolset))
        names = {tool.name: tool for tool in here.tools} if here is not None else {}
        for tool in toolset.tools:
            if here is not None and tool.name in names:
                pairs.append((_Owned(toolset, tool), _Owned(here, names[tool.name])))
            else:
                gone.append(_Owned(toolset, tool))
    paired = {id(current.tool) for _, current in pairs}
    for toolset in after.toolsets:
        new += [_Owned(toolset, t) for t in toolset.tools if id(t) not in paired]
    for rule, is_same in (
        (RENAMED, _takes_its_calls),
        (MOVED, _has_its_name),
        (RENAMED_SILENTLY, _says_the_same),
        (RENAMED_SILENTLY, _is_called_alike),
    ):
        for old in list(gone):
            current = next((one for one in new if is_same(old, one)), None)
            if current is not None:
                gone.remove(old)
                new.remove(current)
                pairs.append((old, current))
                changes.append(_other_name(rule, old, current))
    whole = {id(new_one) for _, new_one in toolsets}
    kept = {id(old) for old, _ in toolsets}
    changes += [_gone(one, day) for one in gone if id(one.toolset) in kept]
    changes += [_came(one, day) for one in new if id(one.toolset) in whole]
    tools = [
        Both(old.tool, current.tool, old.toolset, current.toolset, before, after)
        for old, current in pairs
    ]
    return Matched(toolsets, tools, changes)


def _toolsets(
    before: Workspace, after: Workspace
) -> tuple[list[tuple[Toolset, Toolset]], list[Change]]:
    named = {toolset.name: toolset for toolset in after.toolsets}
    pairs = [(old, named[old.name]) for old in before.toolsets if old.name in named]
    paired = {toolset.name for toolset, _ in pairs}
    gone = [toolset for toolset in before.toolsets if toolset.name not in paired]
    new = [toolset for toolset in after.toolsets if toolset.name not in paired]
    changes: list[Change] = []
    for old in list(gone):
        here = next((one for one in new if one.folder == old.folder), None)
        if here is not None:
            gone.remove(old)
            new.remove(here)
            pairs.append((old, here))
            text = f"the toolset `{old.name}` is called `{here.name}`"
            changes.append(
                _of_toolset(TOOLSET_RENAMED, here, text, old.name, here.name)
            )
    for toolset in gone:
        text = f"the toolset `{toolset.name}` is removed"
        changes.append(
            _of_toolset(TOOLSET_REMOVED, toolset, text, toolset.name, ABSENT)
        )
    for toolset in new:
        text = f"the toolset `{toolset.name}` is new"
        changes.append(_of_toolset(TOOLSET_ADDED, toolset, text, ABSENT, toolset.name))
    return pairs, changes


def _of_toolset(
    rule: ChangeRule, toolset: Toolset, text: str, before: object, after: object
) -> Change:
    place = place_of(toolset.source, ("name",))
    is_gone = after is ABSENT
    return Change(
        rule,
        toolset.name,
        "",
        ("name",),
        before,
        after,
        text,
        rule.grades,
        place,
        "",
        is_gone,
    )


def _takes_its_calls(old: _Owned, new: _Owned) -> bool:
    return old.tool.name in new.tool.renamed_from


def _has_its_name(old: _Owned, new: _Owned) -> bool:
    return old.tool.name == new.tool.name


def _says_the_same(old: _Owned, new: _Owned) -> bool:
    """Whether two tools differ in hardly more than their names."""
    if old.toolset.name != new.toolset.name:
        return False
    return (
        old.tool.parameters == new.tool.parameters
        and old.tool.summary == new.tool.summary
        and old.tool.description == new.tool.description
    )


def _is_called_alike(old: _Owned, new: _Owned) -> bool:
    """Whether two names differ in hardly more than their marks: `get-docs`, `get_docs`."""
    names = [
        re.sub(r"[-_.]", "", one.tool.name).casefold() or one.tool.name
        for one in (old, new)
    ]
    return old.toolset.name == new.toolset.name and names[0] == names[1]


def _other_name(rule: ChangeRule, old: _Owned, new: _Owned) -> Change:
    if old.tool.name == new.tool.name:
        text = f"`{old.tool.name}` is in the toolset `{new.toolset.name}`"
        values = (old.toolset.name, new.toolset.name)
    else:
        text = f"`{old.tool.name}` is called `{new.tool.name}`"
        values = (old.tool.name, new.tool.name)
    place = place_of(new.tool.source, ("name",))
    return Change(
        rule,
        new.toolset.name,
        new.tool.name,
        ("name",),
        *values,
        text,
        rule.grades,
        place,
    )


def _gone(one: _Owned, day: datetime.date) -> Change:
    rule = REMOVED_AS_ANNOUNCED if _was_announced(one.tool, day) else REMOVED
    text = f"`{one.tool.name}` is removed"
    place = place_of(one.tool.source, ("name",))
    name = one.tool.name
    return Change(
        rule,
        one.toolset.name,
        name,
        ("name",),
        name,
        ABSENT,
        text,
        rule.grades,
        place,
        is_gone=True,
    )


def _was_announced(tool: ToolSpec, day: datetime.date) -> bool:
    removal = (tool.deprecated or {}).get("removal", "")
    return bool(_DATE.fullmatch(removal)) and removal <= day.isoformat()


def _came(one: _Owned, day: datetime.date) -> Change:
    rule = ADDED_PAST_REMOVAL if _was_announced(one.tool, day) else ADDED
    text = f"`{one.tool.name}` is new"
    place = place_of(one.tool.source, ("name",))
    name = one.tool.name
    return Change(
        rule,
        one.toolset.name,
        name,
        ("name",),
        ABSENT,
        name,
        text,
        rule.grades,
        place,
    )
