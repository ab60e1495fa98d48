"""Tools and toolsets that come, go, and change their names."""

from __future__ import annotations

import datetime
import re
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.tree import NOWHERE
from .change import (
    Change,
    Grade,
    SpecFiles,
    ToolPair,
    build_json_key,
    pair_toolset_files,
)
from .table import get_rule, make_change, make_presence_change

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class MatchedTools(NamedTuple):
    """What both sides have, and the changes of what only one of them has.

    Attributes:
        toolsets: before and after.
        tools: each with its sides.
        changes: what came, went, or has another name or place.
    """

    toolsets: list[tuple[Toolset, Toolset]]
    tools: list[ToolPair]
    changes: list[Change]


class _OwnedTool(NamedTuple):
    """A tool with its toolset, and what that one is called now."""

    toolset: Toolset
    tool: ToolSpec
    home: str


def match_tools(
    before: Workspace, after: Workspace, today: datetime.date | None = None
) -> MatchedTools:
    """Finds for each toolset and each tool what it was before.

    Args:
        today: the day that decides whether a removal was announced; default: the clock's.
    """
    day = today or datetime.date.today()
    toolsets, changes = _toolsets(before, after)
    now = {id(old): current for old, current in toolsets}
    gone, new = (
        [
            _OwnedTool(t, tool, now.get(id(t), t).name)
            for t in side.toolsets
            for tool in t.tools
        ]
        for side in (before, after)
    )
    pairs: list[tuple[_OwnedTool, _OwnedTool]] = []
    for event, keys_before, keys_after in (
        ("", _own_name, _own_name),
        ("renamed", _name, _former_names),
        ("moved", _name, _name),
        ("renamed-without-former-name", _content, _content),
        ("renamed-without-former-name", _letters, _letters),
    ):
        alike = _paired(gone, keys_before, new, keys_after)
        pairs += alike
        changes += [_other_name(event, *pair) for pair in alike if event]
        known = {id(one) for pair in alike for one in pair}
        gone, new = ([o for o in side if id(o) not in known] for side in (gone, new))
    whole = {id(new_one) for _, new_one in toolsets}
    changes += [
        _gone(one, now[id(one.toolset)], day) for one in gone if id(one.toolset) in now
    ]
    changes += [_came(one, day) for one in new if id(one.toolset) in whole]
    both = [
        ToolPair(old.tool, current.tool, old.toolset, current.toolset, before, after)
        for old, current in pairs
    ]
    return MatchedTools(toolsets, both, changes)


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
            names, files = (old.name, here.name), pair_toolset_files(old, here)
            changes.append(make_change(files, "toolset/renamed", ("name",), *names))
    for is_there, side in ((False, gone), (True, new)):
        for one in side:
            sources = (NOWHERE, one.source) if is_there else (one.source, NOWHERE)
            files = SpecFiles(one.name, "", *sources)
            what = "toolset", ("name",), one.name, is_there
            changes.append(make_presence_change(files, *what))
    return pairs, changes


_Keys = Callable[[_OwnedTool], Iterable[Hashable]]


def _paired(
    gone: list[_OwnedTool], keys_before: _Keys, new: list[_OwnedTool], keys_after: _Keys
) -> list[tuple[_OwnedTool, _OwnedTool]]:
    """Each tool that is gone with the first new one, not yet another's, that has its key."""
    free: defaultdict[Hashable, deque[_OwnedTool]] = defaultdict(deque)
    for one in new:
        for key in keys_after(one):
            free[key].append(one)
    pairs: list[tuple[_OwnedTool, _OwnedTool]] = []
    taken: set[int] = set()
    for old in gone:
        for key in keys_before(old):
            heirs = free[key]
            while heirs and id(heirs[0].tool) in taken:
                heirs.popleft()
            if heirs:
                taken.add(id(heirs[0].tool))
                pairs.append((old, heirs.popleft()))
    return pairs


def _own_name(one: _OwnedTool) -> Iterable[Hashable]:
    return [(one.home, one.tool.name)]


def _name(one: _OwnedTool) -> Iterable[Hashable]:
    return [one.tool.name]


def _former_names(one: _OwnedTool) -> Iterable[Hashable]:
    return one.tool.renamed_from


def _content(one: _OwnedTool) -> Iterable[Hashable]:
    """All but the name, as far as two tools of a toolset that differ there are one."""
    tool = one.tool
    return [(one.home, build_json_key(tool.parameters), tool.summary, tool.description)]


def _letters(one: _OwnedTool) -> Iterable[Hashable]:
    """The name without its marks: `get-docs` is `get_docs`."""
    letters = re.sub(r"[-_.]", "", one.tool.name).casefold()
    return [(one.home, letters or one.tool.name)]


def _other_name(event: str, old: _OwnedTool, new: _OwnedTool) -> Change:
    is_same = old.tool.name == new.tool.name
    names = [(o.toolset if is_same else o.tool).name for o in (old, new)]
    files = SpecFiles(new.toolset.name, new.tool.name, old.tool.source, new.tool.source)
    form = "spec" if event == "renamed-without-former-name" else ""
    tool = new.tool.name
    return make_change(files, f"tool/{event}", ("name",), *names, form=form, tool=tool)


def _gone(one: _OwnedTool, here: Toolset, day: datetime.date) -> Change:
    name = one.tool.name
    files = SpecFiles(one.toolset.name, name, one.tool.source, NOWHERE)
    heir = next((tool.name for tool in here.tools if name in tool.renamed_from), None)
    if heir is not None:
        reason = f"`{heir}` answers calls of it"
        grades = get_rule("tool/renamed").grades._replace(call=Grade.RISKY)
        return make_change(
            files,
            "tool/removed",
            ("name",),
            name,
            form="heir",
            grades=grades,
            reason=reason,
            heir=heir,
        )
    if _was_announced(one.tool, day):
        return make_change(files, "tool/removed-as-announced", ("name",), name)
    return make_change(files, "tool/removed", ("name",), name, form="spec")


def _came(one: _OwnedTool, day: datetime.date) -> Change:
    name = one.tool.name
    files = SpecFiles(one.toolset.name, name, NOWHERE, one.tool.source)
    if _was_announced(one.tool, day):
        return make_change(files, "tool/added-past-removal", ("name",), after=name)
    return make_change(files, "tool/added", ("name",), after=name, form="spec")


def _was_announced(tool: ToolSpec, day: datetime.date) -> bool:
    removal = (tool.deprecated or {}).get("removal", "")
    return bool(_DATE.fullmatch(removal)) and removal <= day.isoformat()
