"""Tools that change their names all at once are found without trying each with each."""

from __future__ import annotations

import pytest

from tests.diff.single_changes import loaded
from toolcast.diff import tools as matching
from toolcast.diff.comparison import compare

NUMBER = 50


def test_each_name_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    letters = matching._get_letters

    def counted(one: matching._OwnedTool) -> object:
        nonlocal read
        read += 1
        return letters(one)

    monkeypatch.setattr(matching, "_get_letters", counted)
    before, after = (
        loaded(
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
        "tool/renamed-without-former-name"
    ) == NUMBER
    assert read == 2 * NUMBER
