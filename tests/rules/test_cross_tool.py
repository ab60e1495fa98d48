"""Orders about tools: looked for by the names that occur, and found as by all names."""

from __future__ import annotations

import re
import sys

from hypothesis import given
from hypothesis import strategies as st

from tests.properties import tried
from toolcast.rules.prompt import CrossToolInstructions, _build_order_pattern
from toolcast.rules.subjects import fold_case

NAMES = ["get_date", "search", "a.b", "Send-Mail2", "list_kinds"]


def test_letters_that_patterns_take_for_ascii() -> None:
    every_character = "".join(map(chr, range(sys.maxunicode + 1)))
    for letter in "abcdefghijklmnopqrstuvwxyz":
        taken = re.findall(letter, every_character, re.IGNORECASE)
        assert len(taken) >= 2
        assert {fold_case(character) for character in taken} == {letter}


def test_folding_keeps_places() -> None:
    for point in range(0x110000):
        assert len(fold_case(chr(point))) == 1


@tried(100)
@given(st.from_regex(_build_order_pattern(tuple(sorted(NAMES)))))
def test_few_names_find_what_the_pattern_of_all_names_finds(text: str) -> None:
    known = CrossToolInstructions(NAMES)
    found = [match.span() for match in known.finditer(text)]
    every = _build_order_pattern(tuple(sorted(NAMES)))
    assert found == [match.span() for match in every.finditer(text)]


@given(
    st.text(st.sampled_from("usetalways `'\".,-_/ab\u017f\u0131K\nsearch"), max_size=60)
)
def test_orders_among_any_words(tail: str) -> None:
    text = f"Always use search{tail} must always use a.b. Never call {tail}search"
    known = CrossToolInstructions(NAMES)
    every = _build_order_pattern(tuple(sorted(NAMES)))
    assert [match.group() for match in known.finditer(text)] == [
        match.group() for match in every.finditer(text)
    ]
