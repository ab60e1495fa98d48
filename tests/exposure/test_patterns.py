"""Patterns in the `allow` and `deny` lists of clients."""

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
def test_star_in_pattern_matches_any_text(pattern: str, names: list[str]) -> None:
    """Matching is case-sensitive and has no character classes."""
    [entry] = expand_entries([pattern], dict.fromkeys(NAMES), ())
    assert list(entry.names) == names


def test_pattern_with_forty_stars_is_matched_in_bounded_time() -> None:
    started = time.process_time()
    [entry] = expand_entries(["*a" * 40 + "*b"], {"a" * 128: None}, ())
    assert entry.names == ()
    assert time.process_time() - started < 1
