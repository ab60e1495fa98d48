"""Matching of removed and added tools, also of many, as renamed."""

from __future__ import annotations

import pytest

from tests.diff.single_changes import load_project
from toolcast.diff import tools as matching
from toolcast.diff.comparison import compare
from toolcast.diff.tools import find_similar

TOOL_COUNT = 50


@pytest.mark.parametrize(
    ("old", "new", "pairs"),
    [
        # 8 of 10 characters are equal, and 7 of 10.
        (["abcdefghij"], ["abcdefghxy"], [(0, 0)]),
        (["abcdefghij"], ["abcdefgxyz"], []),
        # Equal texts come first, then the most similar ones.
        (["abcdefghij", "abcdefghix"], ["abcdefghix"], [(1, 0)]),
        (["abcdefghxy", "abcdefghix"], ["abcdefghij"], [(1, 0)]),
        (["abcdefghij"], ["abcdefghxy", "abcdefghix"], [(0, 1)]),
        (["abcdefghij"], ["abcdefghix", "abcdefghiy"], [(0, 0)]),
    ],
)
def test_find_similar_pairs_texts_with_at_least_80_percent_equal_characters(
    old: list[str], new: list[str], pairs: list[tuple[int, int]]
) -> None:
    found = find_similar(dict(enumerate(old)), dict(enumerate(new)))
    assert list(found) == pairs


@pytest.mark.parametrize(("count", "pair_count"), [(20, 21), (21, 1)])
def test_find_similar_pairs_only_equal_texts_if_there_are_more_than_400_pairs(
    count: int, pair_count: int
) -> None:
    """Equal texts are paired in addition."""
    old = {"equal": "equal", **{f"a{i}": f"{chr(i) * 9}a" for i in range(20)}}
    new = {"equal": "equal", **{f"b{i}": f"{chr(i) * 9}b" for i in range(count)}}
    pairs = list(find_similar(old, new))
    assert pairs[0] == ("equal", "equal")
    assert len(pairs) == pair_count


def test_rename_matching_normalizes_each_name_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call_count = 0
    get_normalized_name = matching._get_normalized_name

    def count_calls(tool: matching._OwnedTool) -> object:
        nonlocal call_count
        call_count += 1
        return get_normalized_name(tool)

    monkeypatch.setattr(matching, "_get_normalized_name", count_calls)
    versions = [
        {f"note{mark}{n}": {"summary": f"{mark} {n}."} for n in range(TOOL_COUNT)}
        for mark in "-_"
    ]
    before, after = (load_project({"note": None, **tools}) for tools in versions)
    ids = [change.rule.id for change in compare(before, after).changes]
    assert ids.count("tool/renamed-without-previous-name") == TOOL_COUNT
    assert call_count == 2 * TOOL_COUNT
