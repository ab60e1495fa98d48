"""Many renamed tools are matched without comparing each pair."""

from __future__ import annotations

import pytest

from tests.diff.single_changes import load_project
from toolcast.diff import tools as matching
from toolcast.diff.comparison import compare

NUMBER = 50


def test_each_name_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    letters = matching._get_normalized_name

    def counted(one: matching._OwnedTool) -> object:
        nonlocal read
        read += 1
        return letters(one)

    monkeypatch.setattr(matching, "_get_normalized_name", counted)
    before, after = (
        load_project(
            {
                "note": None,
                **{
                    f"note{mark}{n}": {"summary": f"{mark} {n}."} for n in range(NUMBER)
                },
            }
        )
        for mark in "-_"
    )

    changes = compare(before, after).changes

    assert [c.rule.id for c in changes].count(
        "tool/renamed-without-previous-name"
    ) == NUMBER
    assert read == 2 * NUMBER
