"""Data is laid out directly as the tree of its expressions would be."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolcast.encoders.layout import WIDTH, Entry, Expression, Group, text_width
from toolcast.encoders.python import encode, string
from toolcast.encoders.python_strings import _escaped, _pieces

WORDS = st.lists(
    st.sampled_from(
        ["a", "bc", "words", "x" * 30, "'", '"', "\\", "é", "漢字", "📝", "\n"]
    ),
    max_size=30,
)
TEXTS = st.one_of(st.text(max_size=20), WORDS.map(" ".join), WORDS.map("  ".join))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(0, 1e9), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=5), st.dictionaries(TEXTS, inner, max_size=5)
    ),
    max_leaves=25,
)


def tree(value: Any) -> Expression:
    """The expression of a value with one node for each of its parts."""
    if isinstance(value, dict):
        entries = [Entry(f"{string(k)}: ", tree(v)) for k, v in value.items()]
        return Group("{", entries, "}")
    if isinstance(value, list):
        return Group("[", [tree(item) for item in value], "]")
    return encode(value)


@settings(max_examples=400)
@given(VALUES, st.integers(0, 12), st.integers(0, 30), st.integers(0, 3))
def test_data_stands_as_its_tree_would(
    value: Any, levels: int, more: int, after: int
) -> None:
    indent = 4 * levels
    drawn = encode(value).render(indent, indent + more, after)
    assert drawn == tree(value).render(indent, indent + more, after)
    assert encode(value).flat == tree(value).flat


@settings(max_examples=400)
@given(VALUES, st.integers(0, 120))
def test_what_fits_is_known_without_writing_it(value: Any, room: int) -> None:
    for one in (encode(value), tree(value), Entry("lead=", tree(value), ",")):
        flat = one.flat
        assert one.flat_within(room) == (flat if text_width(flat) <= room else None)


@settings(max_examples=600)
@given(TEXTS, st.integers(10, WIDTH))
@example("a " * 60 + "\n", 40)
@example("x" * 100 + "  y  \n\n z", 40)
def test_pieces_are_as_long_as_they_can_be(text: str, room: int) -> None:
    pieces = _pieces(text, room)
    assert "".join(ast.literal_eval(piece) for piece in pieces) == text
    assert pieces == list(_word_by_word(text, room))


def _word_by_word(text: str, room: int) -> Iterable[str]:
    """The same pieces, each grown by one word after the other."""
    for line in text.splitlines(keepends=True) if "\n" in text else [text]:
        piece = ""
        for word in _words(line):
            longer = piece + word
            quotes = min(longer.count('"'), longer.count("'"))
            if piece and text_width(_escaped(longer)) + quotes + 2 > room:
                yield string(piece)
                longer = word
            piece = longer
        yield string(piece)


def _words(line: str) -> Iterable[str]:
    start = 0
    for index in range(1, len(line)):
        if line[index - 1] == " " and line[index] not in " \n":
            yield line[start:index]
            start = index
    yield line[start:]


def test_words_stand_one_a_line_where_data_is_nested_beyond_the_width() -> None:
    value: Any = " ".join(["plain words"] * 10)
    for _ in range(25):
        value = [value]
    drawn = encode(value).render(0, 0, 0)
    assert ast.literal_eval(drawn) == value
    assert drawn.count('"plain "') == 10
