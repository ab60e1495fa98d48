"""Values, lists, names and limits in the messages about schemas."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast.diff.schemas.message_text import (
    ADDITIONAL,
    ALTERNATIVE,
    EXCLUDED,
    ITEMS,
    NAMES,
    format_bound,
    format_count,
    format_name,
    format_subject,
    format_types,
    format_value,
    format_value_pair,
    format_values,
)
from toolcast.diff.schemas.value_limits import ALL_TYPES, Bound


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "no values"),
        ([1], "`1`"),
        ([1, 2], "`1` or `2`"),
        ([1, 2, 3, 4, 5], "`1`, `2`, `3`, `4` or `5`"),
        ([1, 2, 3, 4, 5, 6], "`1`, `2`, `3`, `4`, `5` and 1 other"),
        ([1, 2, 3, 4, 5, 6, 7], "`1`, `2`, `3`, `4`, `5` and 2 others"),
        # Each value has at most 60 characters, with its quotation marks.
        (["x" * 58], f'`"{"x" * 58}"`'),
        (["x" * 59], f'`"{"x" * 58}…`'),
    ],
)
def test_message_lists_at_most_5_values_with_at_most_60_characters(
    values: list[Any], message: str
) -> None:
    assert format_values(values, "or") == message


def test_message_truncates_a_value_at_100_characters() -> None:
    assert format_value("é" * 98) == f'`"{"é" * 98}"`'
    assert format_value("é" * 99) == f'`"{"é" * 98}…`'
    assert format_value("`a`") == "`\"'a'\"`"
    old, new = format_value_pair("a" * 98, f"`{'a' * 97}")
    assert (old, new) == (f'`"{"a" * 98}"`', f"`\"'{'a' * 97}\"`")
    assert all(" ... " in text for text in format_value_pair("a" * 99, "b" * 99))


@pytest.mark.parametrize(
    ("location", "subject"),
    [
        ("", "a call"),
        (ALTERNATIVE, "a call in one alternative"),
        ("a.b", "`a.b`"),
        (f"a.b{ALTERNATIVE}", "`a.b` in one alternative"),
        (f"a{ITEMS}", "each item of `a`"),
        (f"a{ITEMS}{ITEMS}", "each item of each item of `a`"),
        (ADDITIONAL, "each additional property of a call"),
        (f"a{NAMES}", "each property name of `a`"),
        (f"a{EXCLUDED}", "the `not` schema of `a`"),
    ],
)
def test_message_subject_names_the_schema_location(location: str, subject: str) -> None:
    assert format_subject(location, "a call") == subject


def test_message_name_has_no_unprintable_characters_or_backticks() -> None:
    assert format_name("a\n") == '`"a\\n"`'
    assert format_name("a`b") == "`a'b`"
    assert format_name("") == '`""`'


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (ALL_TYPES, "any type"),
        (set(), "no type"),
        ({"null", "string"}, "a string or null"),
        ({"integer"}, "an integer"),
        ({"fraction"}, "a non-integer number"),
        ({"integer", "fraction", "array"}, "a number or an array"),
    ],
)
def test_message_names_json_schema_types(types: set[str], message: str) -> None:
    assert format_types(frozenset(types)) == message


def test_message_describes_bounds_and_counts() -> None:
    bounds = [Bound(9), Bound(9, is_exclusive=True)]
    assert [format_bound("maximum", b) for b in bounds] == ["at most 9", "below 9"]
    assert [format_bound("minimum", b) for b in bounds] == ["at least 9", "above 9"]
    assert format_count("maxItems", 1) == "at most 1 item"
    assert format_count("minProperties", 0) == "at least 0 properties"
    assert format_count("maxLength", 2) == "at most 2 characters"
