"""Matching of renamed tools without a comparison of each pair."""

from __future__ import annotations

import pytest

from tests.diff.single_changes import load_project
from toolcast.diff import tools as matching
from toolcast.diff.comparison import compare

TOOL_COUNT = 50


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
