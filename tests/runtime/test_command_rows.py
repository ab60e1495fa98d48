"""Rows of a command in prompt docs: comment position and line breaks at each width."""

from __future__ import annotations

from toolcast_runtime.prompts import command_rows

COLUMN = 50


def test_comment_for_a_long_cli_command_in_prompt_docs_is_on_the_next_row() -> None:
    """Otherwise it is on the command's row, after at least two spaces."""
    longest = "x" * (COLUMN - 2 - len("  do "))
    (row,) = command_rows("do", longest, "Why.")
    assert row == f"  do {longest}  # Why."
    assert command_rows("do", f"{longest}x", "Why.") == [
        f"  do {longest}x",
        " " * COLUMN + "# Why.",
    ]
    assert command_rows("do", longest, "") == [f"  do {longest}"]


def test_long_cli_command_in_prompt_docs_is_continued_after_a_backslash() -> None:
    first = "a" * (118 - len("  do "))
    assert command_rows("do", first, "") == [f"  do {first}"]
    assert command_rows("do", f"{first[2:]} b", "") == [f"  do {first[2:]} b"]
    assert command_rows("do", f"{first[1:]} b", "") == [
        f"  do {first[1:]} \\",
        "      b",
    ]


def test_cli_command_comment_is_wrapped_at_120_columns() -> None:
    width = 120 - COLUMN - len("# a ")
    for length, rows in ((0, 1), (1, 2)):
        lines = command_rows("do", "it", "a " + "b" * (width + length))
        assert len(lines) == rows
        assert max(map(len, lines)) <= 120
        assert all(line[COLUMN:].startswith("# ") for line in lines)
