"""Patterns that include other patterns, and examples of strings that patterns match."""

from __future__ import annotations

import re
from string import ascii_letters, digits

import pytest

from toolcast.diff.schemas.patterns import includes_pattern, list_examples

ASCII = "".join(map(chr, range(128)))
# The characters near the line separators U+2028 and U+2029 are the last ones of `.`.
CHARACTERS = "".join(map(chr, [*range(0x100), *range(0x2020, 0x2030)]))


@pytest.mark.parametrize(
    ("pattern", "characters"),
    [
        (".", set(map(chr, range(0x2028))) - set("\r\n")),
        (r"\d", digits),
        (r"\w", f"{ascii_letters}{digits}_"),
        (r"\s", " \t\n\v\f\r"),
        (r"\D", set(ASCII) - set(digits)),
        (r"\W", "!\"#$%&'()*+,-./:;<=>?@[\\]^`"),
        (r"\S", set(map(chr, range(33, 127)))),
        ("[b-df-h]", "bcdfgh"),
        (r"[^\0-\x7f]", set(CHARACTERS) - set(ASCII)),
        ("[^a]", set(CHARACTERS) - set("a")),
    ],
)
def test_character_class_surely_includes_only_characters_common_to_all_engines(
    pattern: str, characters: str | set[str]
) -> None:
    included = {c for c in CHARACTERS if includes_pattern(pattern, re.escape(c))}
    assert included == set(characters) & set(CHARACTERS)


@pytest.mark.parametrize(
    ("accepted", "sent", "is_included"),
    [
        (r"\w", r"\d", True),
        (r"\S", r"\d", True),
        (r"\S", r"\w", True),
        (r"\d", r"\w", False),
        ("[a-cd-f]", "[b-e]", True),
        ("[a-ce-f]", "[b-e]", False),
        # Every code point is a character, up to the last one.
        ("[^a]", "[b-\U0010ffff]", True),
        ("[^\0-\U0010fffe]", "\U0010ffff", True),
        ("[\0-`b-\U0010ffff]", "[^a]", True),
        ("[\0-`b-\U0010fffe]", "[^a]", False),
        # Each limit of repetitions is at its value, or outside by one.
        ("a{2,4}", "a{2,3}", True),
        ("a{2,4}", "a{3,4}", True),
        ("a{2,4}", "a{1,4}", False),
        ("a{2,4}", "a{2,5}", False),
        ("[ab]?", "a{0,1}", True),
        ("a", "a{1}", True),
        ("a{1}", "a", True),
        ("(?:ab){1,3}", "(?:ab){1,2}", True),
        ("(?:ab){1,3}", "(?:cd){1,2}", False),
        ("a", "^a$", True),
        ("^a", "a", False),
        ("^a", "a$", False),
        ("a$", "a", False),
        ("ab", "abc", False),
        # Inclusion is unknown: flags, an inner anchor, a negated category.
        ("(?i:[a-c])", "a", False),
        ("([a-c])", "a", True),
        ("a^b{1,3}", "a^b{1,2}", False),
        (r"[^\d]", "a", False),
        # Python cannot parse the pattern.
        (r"\p{L}", r"\p{L}", True),
        (r"\p{L}", "a", False),
    ],
)
def test_pattern_includes_another_if_it_surely_matches_the_same_strings(
    accepted: str, sent: str, is_included: bool
) -> None:
    assert includes_pattern(accepted, sent) is is_included


@pytest.mark.parametrize(
    ("pattern", "examples"),
    [
        ("^a$", ["a"]),
        ("^a", ["a", "a~", "a\n"]),
        ("a$", ["a", "~a", "\na"]),
        ("a", ["a", "a~", "a\n", "~a", "\na"]),
        ("a?b", ["b", "ab", "ab~", "ab\n", "~ab", "\nab"]),
        ("^a*$", ["", "a", "a" * 64]),
        ("^[b-d]{2,3}$", ["bb", "bbb", "ddd"]),
        ("^(ab|c|d|e|f)x*$", ["ab", "abx", "cx", "dx", "ex", "ab" + "x" * 64]),
        ("ab|[c-e]|f", ["ab", "ab~", "ab\n", "~ab", "\nab", "c", "f"]),
        ("^a{2000}$", ["a" * 1_000]),
        ("^.$", ["!", *"aZ0_-./ :@é~^$"]),
        ("^[^ab]$", ["c", *"Z0_-./ :@é~\n^[]$"]),
        (r"^\s$", [" ", "\n"]),
        (r"^[\x01-\x1f ]$", ["\x01", " ", "\n"]),
        (r"\p{L}", []),
    ],
)
def test_pattern_examples_differ_in_repetitions_alternatives_and_characters(
    pattern: str, examples: list[str]
) -> None:
    assert list_examples(pattern) == examples


def test_pattern_has_at_most_30_examples_of_at_most_1000_characters() -> None:
    examples = list_examples(f"^[{ascii_letters}]{{990}}b{{20}}$")
    assert len(examples) == 30
    assert max(map(len, examples)) == 1_000
