"""What the patterns of clients' lists stand for."""

from __future__ import annotations

import time

import pytest

from toolcast.model.toolset_parts import expand_entries

NAMES = ("a", "aa", "aba", "ab_ab", "search_code", "search_notes", "research")


@pytest.mark.parametrize(
    ("pattern", "names"),
    {
        "search_*": ["search_code", "search_notes"],
        "*search*": ["research", "search_code", "search_notes"],
        "a*a": ["aa", "aba"],
        "a**a": ["aa", "aba"],
        "ab*ab": ["ab_ab"],
        "ab*b_*ab": [],
        "*_*": ["ab_ab", "search_code", "search_notes"],
        "*_*o*e*": ["search_code", "search_notes"],
        "[a-z]*": [],
        "Search_*": [],
    }.items(),
)
def test_a_pattern_stands_for_whole_names(pattern: str, names: list[str]) -> None:
    [entry] = expand_entries([pattern], dict.fromkeys(NAMES), ())
    assert list(entry.names) == names


def test_no_pattern_takes_long() -> None:
    started = time.perf_counter()
    [entry] = expand_entries(["*a" * 40 + "*b"], {"a" * 128: None}, ())
    assert entry.names == ()
    assert time.perf_counter() - started < 1
