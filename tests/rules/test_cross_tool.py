"""Instructions about other tools: equal results of two searches, by occurring and by all names."""

from __future__ import annotations

import re
import sys

from hypothesis import given
from hypothesis import strategies as st

from tests.properties import limit_examples
from toolcast.rules.prompt import CrossToolInstructions, _build_order_pattern
from toolcast.rules.subjects import fold_case

EVERY_CHARACTER = "".join(map(chr, range(sys.maxunicode + 1)))
NAMES = ["get_date", "search", "a.b", "Send-Mail2", "list_kinds"]


def test_fold_case_maps_characters_that_match_an_ascii_letter_to_it() -> None:
    for letter in "abcdefghijklmnopqrstuvwxyz":
        matches = re.findall(letter, EVERY_CHARACTER, re.IGNORECASE)
        assert len(matches) >= 2
        assert {fold_case(character) for character in matches} == {letter}


def test_fold_case_preserves_every_string_length() -> None:
    assert len(fold_case(EVERY_CHARACTER)) == len(EVERY_CHARACTER)
    # No character becomes longer where another one is removed.
    blocks = (EVERY_CHARACTER[i : i + 64] for i in range(0, len(EVERY_CHARACTER), 64))
    assert {len(fold_case(block)) for block in blocks} == {64}


@limit_examples(100)
@given(st.from_regex(_build_order_pattern(tuple(sorted(NAMES)))))
def test_search_by_occurring_tool_names_equals_search_by_all_names(text: str) -> None:
    instructions = CrossToolInstructions(NAMES)
    spans = [match.span() for match in instructions.finditer(text)]
    full_pattern = _build_order_pattern(tuple(sorted(NAMES)))
    assert spans == [match.span() for match in full_pattern.finditer(text)]


@given(
    st.text(st.sampled_from("usetalways `'\".,-_/ab\u017f\u0131K\nsearch"), max_size=60)
)
def test_search_in_arbitrary_text_equals_search_by_all_names(tail: str) -> None:
    text = f"Always use search{tail} must always use a.b. Never call {tail}search"
    instructions = CrossToolInstructions(NAMES)
    full_pattern = _build_order_pattern(tuple(sorted(NAMES)))
    assert [match.group() for match in instructions.finditer(text)] == [
        match.group() for match in full_pattern.finditer(text)
    ]
