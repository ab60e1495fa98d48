"""Characters that models read and reviewers do not see, and characters that scripts require."""

from __future__ import annotations

import pytest

from toolcast.parsing.characters import (
    describe_character,
    find_forbidden,
    find_invisible,
)
from toolcast.parsing.yaml_reader import read_yaml

HIDDEN = {
    "zero-width space": "a\u200bb",
    "soft hyphen": "a\u00adb",
    "Hangul filler": "a\u3164b",
    "bytes in variation selectors": "ok" + "\U000e0153\U000e0154\U000e0155",
    "bytes behind an emoji": "😀" + "\ufe01\ufe02\ufe03",
    "bits in joiners": "a\u200c\u200d\u200c\u200cb",
    "a joiner in a Latin word": "adm\u200din",
    "a non-joiner in a Latin word": "adm\u200cin",
    "a selector without a base": "\ufe0f",
    "a joiner without a letter": "\u200da",
    "two joiners in a Persian word": "می\u200c\u200cخواهم",
    "two selectors on a heart": "❤\ufe0f\ufe0f",
    "a supplementary selector on a Latin letter": "a\U000e0100",
    "bits in marks of direction": "a\u200eb\u200fc\u200e",
    "marks of direction in a row": "ש\u200e\u200f",
    "an annotation": "a\ufff9b\ufffac\ufffb",
    "a musical beam mark": "a\U0001d173b",
    "shorthand": "a\U0001bca0b",
    "an unassigned character that is ignored": "a\U000e01f0b",
    "bytes in private use": "a\U000f0041\U000f0042",
    "a font icon": "a\ue000",
    "a blank other than a space": "a\u2800b",
    "a Mongolian selector": "a\u180fb",
    "a pile of marks": "a" + "\u0300\u0301\u0302\u0303\u0304",
    "bits in a run of spaces": "a\u00a0 \u00a0\u00a0b",
    "a thin space beside a space": "a \u2009b",
    "no-break spaces in a row": "end.\u00a0\u00a0\u00a0",
    "bits in the spaces between words": "a\u00a0b c\u00a0d e\u2009f\u00a0g h\u2003i j",
    "bits in tabs and spaces": "end. \t\t \t  \t \t",
    "bits in separators of lines": "a\u2028\u2029b",
    "a selector behind punctuation": "a.\ufe00",
    "an emoji's selector behind punctuation": "a,\ufe0f",
    "a selector behind a dash": "a\u2014\ufe00b",
    "an unregistered selector of an ideograph": "葛\ufe00",
    "an undefined selector": "神\ufe05",
    "a selector behind a Latin letter": "a\ufe0f",
    "bits in the forms of an emoji": "✔\ufe0f ✔\ufe0e",
    "bits in the variants of an ideograph": "葛\U000e0100飾葛\U000e0101",
    "bytes in variants of ideographs": "".join(
        f"{base}{chr(0xE0100 + n)}" for n, base in enumerate("一二三四五")
    ),
    "an ideographic selector of another script": "ก\U000e0100",
}
VISIBLE = {
    "a family": "👨\u200d👩\u200d👧",
    "a heart in colour": "❤\ufe0f and ✔\ufe0f",
    "a keycap": "1\ufe0f\u20e3",
    "a rainbow flag": "🏳\ufe0f\u200d🌈",
    "a hand with a skin tone": "🧑🏽\u200d🚀",
    "four no-break spaces between words": "a\u00a0b c\u00a0d e\u00a0f\u00a0g",
    "four marks on a Latin letter": "a\u0300\u0301\u0302\u0303",
    "four marks on a Cyrillic letter": "я\u0300\u0301\u0302\u0303",
    "four marks without a letter": "\u0300\u0301\u0302\u0303",
    "four variants of ideographs": "".join(
        f"{base}{chr(0xE0100 + n)}" for n, base in enumerate("一二三四")
    ),
    "Persian": "می\u200cخواهم",
    "Hindi": "क्\u200dष, नमस्ते",
    "Sinhala": "ශ්\u200dරී ලංකා",
    "Vietnamese, decomposed": "Tie\u0302\u0301ng Vie\u0323\u0302t",
    "Thai": "ที่นี่",
    "Hebrew with points": "בְּרֵאשִׁ֖ית",
    "a variant of an ideograph": "葛\U000e0100",
    "a registered variant of an ideograph": "神\ufe00社",
    "registered variants with the first selectors": "豈\ufe00, 丽\ufe02",
    "the forms of a mathematical symbol": "a ∩\ufe00 b",
    "signs that have a form as emoji": "‼\ufe0f ©\ufe0f ™\ufe0e ℹ\ufe0f ↔\ufe0f 〰\ufe0f ㊗\ufe0f",
    "a table with tabs": "a \t b\n\t  \t c",
    "French": "« Oui » : 10 000 € ; « non » ? 5 % !".replace(" ", "\u00a0"),
    "a no-break space in a name": "Dr.\u00a0Ada\u00a0Lovelace and Mr.\u00a0B",
    "a paragraph of Chinese": "\u3000\u3000第一段。\n\u3000\u3000第二段。",
    "a mark of direction beside Hebrew": "שלום (abc)\u200f!",
    "an Arabic letter mark": "س\u061c1",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_invisible_character_in_a_spec_text_is_reported(name: str) -> None:
    characters = find_invisible(HIDDEN[name])
    assert characters is not None
    assert describe_character(characters).startswith("U+")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\u2009b c\u00a0d e\u00a0f g\u00a0h i\u00a0j", "\u2009"),
        ("a\u0300\u0301\u0302\u0303\u0304\u0305", "\u0304"),
        ("✔\ufe0f ✔\ufe0e", "\ufe0e"),
        ("a \u2009\u00a0b", "\u2009"),
    ],
)
def test_find_invisible_returns_the_first_character_that_is_not_accepted(
    text: str, found: str
) -> None:
    assert find_invisible(text) == found


@pytest.mark.parametrize("name", VISIBLE)
def test_invisible_characters_of_scripts_and_emoji_are_accepted(name: str) -> None:
    assert find_invisible(VISIBLE[name]) is None


FLAG, TAGS, END = "\U0001f3f4", "\U000e0067\U000e0062", "\U000e007f"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"Fly {FLAG}{TAGS}{END}!", None),
        (f"{FLAG}{TAGS}", TAGS[0]),
        (f"a{TAGS}{END}", TAGS[0]),
        (f"{TAGS}{END}{FLAG}", TAGS[0]),
        ("a\u202eb", "\u202e"),
        ("a\x1bb", "\x1b"),
        ("葛\U000e0100", None),
        ("葛\U000e0100\U000e0101", "\U000e0100"),
        ("a\u200b\u200c\u200d", None),
        ("a\u200b\u200c\u200d\u200b", "\u200b"),
        ("a\tb\nc", None),
    ],
)
def test_find_forbidden_returns_a_character_that_outputs_or_readers_cannot_show(
    text: str, found: str | None
) -> None:
    """Accept tag characters only in the emoji of a regional flag."""
    assert find_forbidden(text) == found


def test_yaml_reader_reports_invisible_characters_with_their_line() -> None:
    text = 'name: add\nsummary: "Adds' + "\u200c\u200d\u200c" + '"\n'
    _, findings = read_yaml("add.yaml", text.encode())
    assert [(f.rule, f.location.line) for f in findings] == [
        ("yaml/invisible-character", 2)
    ]
