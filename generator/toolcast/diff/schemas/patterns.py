"""Examples of strings that a pattern matches, and inclusion of patterns of character classes.

Patterns are parsed by Python's parser. A pattern that it rejects has no examples, and is
included only in an equal one.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache

# Python has no public parser of regular expressions: `sre_parse` is deprecated in favor of
# these private modules.
from re import _constants as constants  # type: ignore[attr-defined]  # not in typeshed
from re import _parser as parser  # type: ignore[attr-defined]  # not in typeshed
from typing import Any, NamedTuple

_LAST_CHARACTER = 0x10FFFF
_MAX_EXAMPLES = 30
"""Examples of one pattern."""
_MAX_LENGTH = 1_000
"""Characters of an example."""
_MANY_REPEATS = 64
"""Optional repetitions of a part in a long example."""
_SAMPLE_CHARACTERS = "aZ0_-./ :@é~\n"
"""Characters that the classes of patterns often differ in."""
_REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT)
# A string, because the parser's integer `ANY` is equal to one of its categories.
_ANY = "."
# Characters that every regular expression engine counts in a category; engines differ
# about all others. Examples use the first range that begins with a printable character.
_CATEGORY_RANGES = {
    _ANY: [(33, 126), (32, 32), (0, 9), (11, 12), (14, 31), (127, 0x2027)],
    constants.CATEGORY_DIGIT: [(48, 57)],
    constants.CATEGORY_WORD: [(48, 57), (65, 90), (95, 95), (97, 122)],
    constants.CATEGORY_SPACE: [(32, 32), (9, 13)],
    constants.CATEGORY_NOT_DIGIT: [(58, 127), (0, 47)],
    constants.CATEGORY_NOT_WORD: [(33, 47), (58, 64), (91, 94), (96, 96)],
    constants.CATEGORY_NOT_SPACE: [(33, 126)],
}
_NARROWER_CATEGORIES = {
    constants.CATEGORY_WORD: {constants.CATEGORY_DIGIT},
    constants.CATEGORY_NOT_SPACE: {
        constants.CATEGORY_DIGIT,
        constants.CATEGORY_WORD,
    },
}

_Range = tuple[int, int]


class _Characters(NamedTuple):
    """A set of characters.

    Attributes:
        ranges: the code points, as ranges.
        categories: classes such as the digits that are in the set.
    """

    ranges: tuple[_Range, ...]
    categories: frozenset[Any] = frozenset()

    def includes(self, other: _Characters) -> bool:
        """Return whether this set certainly contains another one."""
        ranges, categories = list(self.ranges), set(self.categories)
        for category in self.categories:
            ranges += _CATEGORY_RANGES[category]
            categories |= _NARROWER_CATEGORIES.get(category, set())
        return other.categories <= categories and all(
            _covers(sorted(ranges), part) for part in other.ranges
        )


class _Part(NamedTuple):
    """A part of a pattern with its number of repetitions.

    Attributes:
        content: the characters, or the text of any other part.
        minimum: the fewest repetitions.
        maximum: the most repetitions.
    """

    content: _Characters | str
    minimum: int
    maximum: int


class _Pattern(NamedTuple):
    """A pattern as a sequence of parts.

    Attributes:
        parts: the parts.
        has_start: whether the pattern matches only at the start of a string.
        has_end: whether the pattern matches only at the end of a string.
    """

    parts: tuple[_Part, ...]
    has_start: bool
    has_end: bool


def includes_pattern(accepted: str, sent: str) -> bool:
    """Return whether `accepted` certainly matches every string that `sent` matches.

    False also means that the inclusion is unknown.
    """
    if accepted == sent:
        return True
    outer, inner = _parse_parts(accepted), _parse_parts(sent)
    if outer is None or inner is None or len(outer.parts) != len(inner.parts):
        return False
    # An anchored pattern cannot include one that also matches inside a string.
    if outer.has_start > inner.has_start or outer.has_end > inner.has_end:
        return False
    return all(map(_includes_part, outer.parts, inner.parts))


def _includes_part(outer: _Part, inner: _Part) -> bool:
    if outer.minimum > inner.minimum or outer.maximum < inner.maximum:
        return False
    if isinstance(outer.content, str) or isinstance(inner.content, str):
        return outer.content == inner.content
    return outer.content.includes(inner.content)


def _covers(ranges: Sequence[_Range], part: _Range) -> bool:
    """Return whether sorted ranges contain every code point of a range."""
    start, end = part
    for first, last in ranges:
        if first <= start:
            start = max(start, last + 1)
    return start > end


def list_examples(pattern: str) -> list[str]:
    """Return at most 30 strings that a pattern probably matches.

    They differ in characters, repetitions and alternatives. Empty if Python cannot parse the
    pattern.
    """
    parsed, anchors = _parse(pattern), _parse_parts(pattern)
    if parsed is None:
        return []
    text = _build_text(parsed, 1, "", 0)
    examples = [
        _build_text(parsed, 0, "", 0),
        text,
        *(_build_text(parsed, 1, "", branch) for branch in (1, 2, 3)),
        _build_text(parsed, _MANY_REPEATS, "", 0),
    ]
    for character in dict.fromkeys(f"{_SAMPLE_CHARACTERS}{pattern}"):
        examples.append(_build_text(parsed, 1, character, 0))
    if anchors is None or not anchors.has_start:
        examples[2:2] = [f"~{text}", f"\n{text}"]
    if anchors is None or not anchors.has_end:
        examples[2:2] = [f"{text}~", f"{text}\n"]
    return list(dict.fromkeys(examples))[:_MAX_EXAMPLES]


def _build_text(sequence: Any, optional_repeats: int, wanted: str, branch: int) -> str:
    """Return a string for a parsed pattern.

    Args:
        sequence: the parsed pattern.
        optional_repeats: repetitions in addition to the fewest ones, where allowed.
        wanted: the character to use wherever a class contains it.
        branch: index of the alternative to use, if there are so many.
    """
    text = ""
    for operation, argument in sequence:
        if operation in _REPEATS:
            minimum, maximum, body = argument
            count = min(minimum + optional_repeats, maximum, _MAX_LENGTH)
            text += _build_text(body, optional_repeats, wanted, branch) * count
        elif operation is constants.SUBPATTERN:
            text += _build_text(argument[3], optional_repeats, wanted, branch)
        elif operation is constants.BRANCH:
            branches = argument[1]
            chosen = branches[min(branch, len(branches) - 1)]
            text += _build_text(chosen, optional_repeats, wanted, branch)
        else:
            text += _choose_character(operation, argument, wanted)
    return text[:_MAX_LENGTH]


def _choose_character(operation: Any, argument: Any, wanted: str) -> str:
    characters = _parse_characters(operation, argument)
    if characters is None:
        return ""  # Anchors, assertions and back references add no character.
    if wanted and characters.includes(_Characters(((ord(wanted), ord(wanted)),))):
        return wanted
    ranges = list(characters.ranges)
    for category in characters.categories:
        ranges += _CATEGORY_RANGES[category]
    printable = [first for first, _ in ranges if first > 32]
    return chr(printable[0] if printable else ranges[0][0]) if ranges else ""


@lru_cache(maxsize=512)
def _parse(pattern: str) -> Any:
    """Return the parsed pattern, or None if Python does not support it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parser.parse(pattern)
    except (re.error, OverflowError, RecursionError):
        return None


@lru_cache(maxsize=512)
def _parse_parts(pattern: str) -> _Pattern | None:
    """Return a pattern as a sequence of parts.

    None if Python cannot parse the pattern, or if an anchor is between the parts.
    """
    parsed = _parse(pattern)
    if parsed is None:
        return None
    operations = list(parsed)
    start = (constants.AT, constants.AT_BEGINNING)
    end = (constants.AT, constants.AT_END)
    has_start = bool(operations) and operations[0] == start
    has_end = bool(operations) and operations[-1] == end
    inner = operations[has_start : len(operations) - has_end]
    if any(operation is constants.AT for operation, _ in inner):
        return None
    return _Pattern(tuple(map(_parse_part, inner)), has_start, has_end)


def _parse_part(operation: tuple[Any, Any]) -> _Part:
    minimum, maximum = 1, 1
    name, argument = operation
    if name in _REPEATS:
        minimum, maximum, body = argument
        if len(body) != 1:
            return _Part(repr(body), minimum, maximum)
        name, argument = body[0]
    # A group of a single class matches the same as the class.
    while name is constants.SUBPATTERN and len(argument[3]) == 1:
        if any(argument[1:3]):
            break  # Flags of a group change the meaning of its class.
        name, argument = argument[3][0]
    characters = _parse_characters(name, argument)
    if characters is None:
        return _Part(repr((name, argument)), minimum, maximum)
    return _Part(characters, minimum, maximum)


def _parse_characters(operation: Any, argument: Any) -> _Characters | None:
    """Return the characters that one operation matches; None for other operations."""
    if operation is constants.LITERAL:
        return _Characters(((argument, argument),))
    if operation is constants.NOT_LITERAL:
        return _Characters(tuple(_invert([(argument, argument)])))
    if operation is constants.ANY:
        return _Characters((), frozenset([_ANY]))
    if operation is not constants.IN:
        return None
    ranges: list[_Range] = []
    categories = set()
    is_negated = False
    for name, value in argument:
        if name is constants.NEGATE:
            is_negated = True
        elif name is constants.LITERAL:
            ranges.append((value, value))
        elif name is constants.RANGE:
            ranges.append(value)
        elif name is constants.CATEGORY:
            categories.add(value)
        else:
            return None
    if is_negated:
        if categories:
            return None
        ranges = list(_invert(ranges))
    return _Characters(tuple(ranges), frozenset(categories))


def _invert(ranges: Sequence[_Range]) -> Iterator[_Range]:
    """Yield the ranges of all other code points."""
    start = 0
    for first, last in sorted(ranges):
        if first > start:
            yield start, first - 1
        start = max(start, last + 1)
    if start <= _LAST_CHARACTER:
        yield start, _LAST_CHARACTER
