"""Match tools and toolsets of two versions; report added and removed ones."""

from __future__ import annotations

import datetime
import re
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from typing import NamedTuple, TypeVar

from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.dates import parse_iso_date
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

_MIN_SIMILARITY = 0.8
"""Minimum similarity, 0 to 1, of a removed and an added tool that count as one tool."""
_MIN_COMPARED_CHARACTERS = 60
"""Length of a description from which tools are compared for similarity."""
_MAX_COMPARED_CHARACTERS = 2_000
"""Characters of each of two definitions whose similarity is computed."""
_MAX_PAIRS = 400
"""Pairs of removed and added tools; if there are more, similarity is not computed."""


class MatchedTools(NamedTuple):
    """The toolsets and tools that both versions have, and the changes of the other ones.

    Attributes:
        toolsets: the old and the new version of each toolset.
        tools: the old and the new version of each tool.
        changes: the added, removed, renamed and moved tools and toolsets.
    """

    toolsets: list[tuple[Toolset, Toolset]]
    tools: list[ToolPair]
    changes: list[Change]


class _OwnedTool(NamedTuple):
    """A tool of one version with its toolset.

    Attributes:
        toolset: the toolset in the tool's version.
        tool: the tool.
        home: the name of the toolset in the new version.
    """

    toolset: Toolset
    tool: ToolSpec
    home: str


_Key = TypeVar("_Key", str, int)
_GetKeys = Callable[[_OwnedTool], Iterable[Hashable]]


def match_tools(
    before: Workspace, after: Workspace, today: datetime.date | None = None
) -> MatchedTools:
    """Find the old version of each toolset and tool.

    A tool is matched by its name in the toolset, by its `renamed_from`, by its name in
    another toolset, by its content, by its name without punctuation, or by a similar
    description and parameters, in this order.

    Args:
        before: the old version of the workspace.
        after: the new version of the workspace.
        today: the date with which announced removal dates are compared; default: the
            current date.
    """
    day = today or datetime.date.today()
    toolsets, changes = _match_toolsets(before, after)
    new_versions = {id(old): new for old, new in toolsets}
    removed = _list_owned_tools(before, new_versions)
    added = _list_owned_tools(after, new_versions)
    pairs: list[tuple[_OwnedTool, _OwnedTool]] = []
    # Reliable keys come first, because a matched tool is removed from later steps.
    steps: tuple[tuple[str, _GetKeys | None, _GetKeys], ...] = (
        ("", _get_full_name, _get_full_name),
        ("renamed", _get_name, _get_renamed_from),
        ("moved", _get_name, _get_name),
        ("renamed-without-previous-name", _get_content, _get_content),
        ("renamed-without-previous-name", _get_normalized_name, _get_normalized_name),
        ("renamed-without-previous-name", None, _get_name),
    )
    for event, get_old_keys, get_new_keys in steps:
        if get_old_keys is None:
            matches = _pair_similar(removed, added)
        else:
            matches = _pair_by_key(removed, get_old_keys, added, get_new_keys)
        pairs += matches
        if event:
            changes += [_make_rename_change(event, old, new) for old, new in matches]
        matched_ids = {id(owned) for match in matches for owned in match}
        removed = [owned for owned in removed if id(owned) not in matched_ids]
        added = [owned for owned in added if id(owned) not in matched_ids]
    # Tools of an added or removed toolset are part of the change of the toolset.
    for owned in removed:
        if id(owned.toolset) in new_versions:
            toolset = new_versions[id(owned.toolset)]
            changes.append(_make_removed_change(owned, toolset, day))
    matched_toolsets = {id(new) for _, new in toolsets}
    for owned in added:
        if id(owned.toolset) in matched_toolsets:
            changes.append(_make_added_change(owned, day))
    tools = [
        ToolPair(old.tool, new.tool, old.toolset, new.toolset, before, after)
        for old, new in pairs
    ]
    return MatchedTools(toolsets, tools, changes)


def _match_toolsets(
    before: Workspace, after: Workspace
) -> tuple[list[tuple[Toolset, Toolset]], list[Change]]:
    """Return the pairs of matched toolsets, and the changes of toolsets.

    A toolset is matched by its name, or else by its folder (as renamed). Toolsets without a
    match are added or removed.
    """
    new_by_name = {toolset.name: toolset for toolset in after.toolsets}
    pairs = [
        (old, new_by_name[old.name])
        for old in before.toolsets
        if old.name in new_by_name
    ]
    matched_names = {old.name for old, _ in pairs}
    removed = [old for old in before.toolsets if old.name not in matched_names]
    added = [new for new in after.toolsets if new.name not in matched_names]
    changes: list[Change] = []
    for old in list(removed):
        new = next((toolset for toolset in added if toolset.folder == old.folder), None)
        if new is not None:
            removed.remove(old)
            added.remove(new)
            pairs.append((old, new))
            names, files = (old.name, new.name), pair_toolset_files(old, new)
            changes.append(make_change(files, "toolset/renamed", ("name",), *names))
    for toolset in removed:
        files = SpecFiles(toolset.name, "", toolset.source, NOWHERE)
        change = make_presence_change(files, "toolset", ("name",), toolset.name, False)
        changes.append(change)
    for toolset in added:
        files = SpecFiles(toolset.name, "", NOWHERE, toolset.source)
        change = make_presence_change(files, "toolset", ("name",), toolset.name, True)
        changes.append(change)
    return pairs, changes


def _list_owned_tools(
    workspace: Workspace, new_versions: dict[int, Toolset]
) -> list[_OwnedTool]:
    return [
        _OwnedTool(toolset, tool, new_versions.get(id(toolset), toolset).name)
        for toolset in workspace.toolsets
        for tool in toolset.tools
    ]


def _pair_by_key(
    removed: list[_OwnedTool],
    get_old_keys: _GetKeys,
    added: list[_OwnedTool],
    get_new_keys: _GetKeys,
) -> list[tuple[_OwnedTool, _OwnedTool]]:
    """Pair each removed tool with the first unpaired added tool that has an equal key."""
    added_by_key: defaultdict[Hashable, deque[_OwnedTool]] = defaultdict(deque)
    for new in added:
        for key in get_new_keys(new):
            added_by_key[key].append(new)
    pairs: list[tuple[_OwnedTool, _OwnedTool]] = []
    paired_ids: set[int] = set()
    for old in removed:
        for key in get_old_keys(old):
            candidates = added_by_key[key]
            # A tool with several keys can already be paired by another of its keys.
            while candidates and id(candidates[0].tool) in paired_ids:
                candidates.popleft()
            if candidates:
                paired_ids.add(id(candidates[0].tool))
                pairs.append((old, candidates.popleft()))
    return pairs


def _pair_similar(
    removed: list[_OwnedTool], added: list[_OwnedTool]
) -> list[tuple[_OwnedTool, _OwnedTool]]:
    """Pair tools of one toolset with a similar description and similar parameters.

    Tools with a description of less than 60 characters are not paired.
    """
    old_texts, new_texts = (
        {
            index: text
            for index, owned in enumerate(tools)
            if (text := _format_content(owned))
        }
        for tools in (removed, added)
    )
    return [
        (removed[old], added[new])
        for old, new in find_similar(old_texts, new_texts)
        if removed[old].home == added[new].home
    ]


def _format_content(owned: _OwnedTool) -> str:
    """Return the description and parameter names of a tool; "" if they identify no tool."""
    text = owned.tool.description or owned.tool.summary
    if len(text) < _MIN_COMPARED_CHARACTERS:
        return ""
    names = sorted(owned.tool.parameters.get("properties", {}))
    return "\n".join([text, *map(str, names)])


def find_similar(
    old: Mapping[_Key, str], new: Mapping[_Key, str]
) -> Iterator[tuple[_Key, _Key]]:
    """Yield the keys of an old and a new text that are similar, each key once.

    Equal texts come first, then the most similar ones. With more than 400 pairs of unequal
    texts, only equal texts are yielded.
    """
    free_old, free_new = dict(old), dict(new)
    for old_key, old_text in old.items():
        for new_key, new_text in free_new.items():
            if new_text == old_text:
                del free_old[old_key], free_new[new_key]
                yield old_key, new_key
                break
    if len(free_old) * len(free_new) > _MAX_PAIRS:
        return
    # Similarities are negated to sort by descending similarity, then by ascending key.
    pairs = sorted(
        (-_compute_similarity(old_text, new_text), old_key, new_key)
        for old_key, old_text in free_old.items()
        for new_key, new_text in free_new.items()
    )
    for negative_similarity, old_key, new_key in pairs:
        is_similar = -negative_similarity >= _MIN_SIMILARITY
        if is_similar and old_key in free_old and new_key in free_new:
            del free_old[old_key], free_new[new_key]
            yield old_key, new_key


def _compute_similarity(first: str, second: str) -> float:
    """Return the similarity of two texts, 0 to 1; 0 if it is below the minimum."""
    texts = first[:_MAX_COMPARED_CHARACTERS], second[:_MAX_COMPARED_CHARACTERS]
    matcher = SequenceMatcher(None, *texts, autojunk=False)
    # quick_ratio() is an upper bound of ratio() and takes less time.
    if matcher.quick_ratio() < _MIN_SIMILARITY:
        return 0.0
    return matcher.ratio()


def _get_full_name(owned: _OwnedTool) -> Iterable[Hashable]:
    return [(owned.home, owned.tool.name)]


def _get_name(owned: _OwnedTool) -> Iterable[Hashable]:
    return [owned.tool.name]


def _get_renamed_from(owned: _OwnedTool) -> Iterable[Hashable]:
    return owned.tool.renamed_from


def _get_content(owned: _OwnedTool) -> Iterable[Hashable]:
    """Return a key of the toolset, parameters and texts: all fields but the name."""
    tool = owned.tool
    parameters = build_json_key(tool.parameters)
    return [(owned.home, parameters, tool.summary, tool.description)]


def _get_normalized_name(owned: _OwnedTool) -> Iterable[Hashable]:
    """Return the name without separators and case: `get-docs` matches `get_docs`."""
    letters = re.sub(r"[-_.]", "", owned.tool.name).casefold()
    return [(owned.home, letters or owned.tool.name)]


def _make_rename_change(event: str, old: _OwnedTool, new: _OwnedTool) -> Change:
    """Return the change of a tool's name, or of its toolset if the name is the same."""
    if old.tool.name == new.tool.name:
        names = old.toolset.name, new.toolset.name
    else:
        names = old.tool.name, new.tool.name
    tool = new.tool.name
    files = SpecFiles(new.toolset.name, tool, old.tool.source, new.tool.source)
    form = "spec" if event == "renamed-without-previous-name" else ""
    return make_change(files, f"tool/{event}", ("name",), *names, form=form, tool=tool)


def _make_removed_change(
    owned: _OwnedTool, new_toolset: Toolset, day: datetime.date
) -> Change:
    name = owned.tool.name
    files = SpecFiles(owned.toolset.name, name, owned.tool.source, NOWHERE)
    for tool in new_toolset.tools:
        # If the removed tool was merged into another tool, that tool answers its calls.
        if name in tool.renamed_from:
            return make_change(
                files,
                "tool/removed",
                ("name",),
                name,
                form="heir",
                grades=get_rule("tool/renamed").grades._replace(call=Grade.RISKY),
                reason=f"`{tool.name}` answers its calls",
                heir=tool.name,
            )
    if _was_removal_announced(owned.tool, day):
        return make_change(files, "tool/removed-as-announced", ("name",), name)
    return make_change(files, "tool/removed", ("name",), name, form="spec")


def _make_added_change(owned: _OwnedTool, day: datetime.date) -> Change:
    name = owned.tool.name
    files = SpecFiles(owned.toolset.name, name, NOWHERE, owned.tool.source)
    if _was_removal_announced(owned.tool, day):
        return make_change(files, "tool/added-past-removal", ("name",), after=name)
    return make_change(files, "tool/added", ("name",), after=name, form="spec")


def _was_removal_announced(tool: ToolSpec, day: datetime.date) -> bool:
    """Return whether the removal date of a deprecated tool is `day` or earlier.

    A date that is not in the form YYYY-MM-DD does not count.
    """
    removal_date = parse_iso_date((tool.deprecated or {}).get("removal", ""))
    return removal_date is not None and removal_date <= day
