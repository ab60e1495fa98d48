"""A command with its comment beside it or below it, at each width."""

from __future__ import annotations

import pytest

from toolcast_runtime.prompts import command_rows

COLUMN = 50


def test_a_comment_stands_beside_a_command_that_leaves_it_room() -> None:
    """Two blanks at least are between them."""
    fits = "x" * (COLUMN - 2 - len("  do "))
    (row,) = command_rows("do", fits, "Why.")
    assert row == f"  do {fits}  # Why."
    assert command_rows("do", f"{fits}x", "Why.") == [
        f"  do {fits}x",
        " " * COLUMN + "# Why.",
    ]
    assert command_rows("do", fits, "") == [f"  do {fits}"]


def test_a_long_command_goes_on_behind_a_backslash() -> None:
    first = "a" * (118 - len("  do "))
    assert command_rows("do", first, "") == [f"  do {first}"]
    assert command_rows("do", f"{first[2:]} b", "") == [f"  do {first[2:]} b"]
    assert command_rows("do", f"{first[1:]} b", "") == [
        f"  do {first[1:]} \\",
        "      b",
    ]


@pytest.mark.parametrize(("length", "rows"), [(0, 1), (1, 2)])
def test_a_long_comment_goes_on_below(length: int, rows: int) -> None:
    room = 120 - COLUMN - len("# a ")
    found = command_rows("do", "it", "a " + "b" * (room + length))
    assert len(found) == rows
    assert max(map(len, found)) <= 120
    assert all(row[COLUMN:].startswith("# ") for row in found)
