"""Long strings split into Python literals that fit a line and join to the text."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties import limit_examples
from toolcast.encoders.python import (
    WIDTH,
    _escape_except_quotes,
    _split_string,
    encode_literal,
    encode_string,
    text_width,
)

WORDS = st.lists(
    st.sampled_from(
        ["a", "bc", "words", "x" * 30, "'", '"', "\\", "é", "漢字", "📝", "\n"]
    ),
    max_size=30,
)
TEXTS = st.one_of(st.text(max_size=20), WORDS.map(" ".join), WORDS.map("  ".join))


@limit_examples(600)
@given(TEXTS, st.integers(10, WIDTH))
@example("a " * 60 + "\n", 40)
@example("x" * 100 + "  y  \n\n z", 40)
def test_split_literal_has_pieces_as_long_as_possible(text: str, width: int) -> None:
    pieces = _split_string(text, width)
    assert "".join(ast.literal_eval(piece) for piece in pieces) == text
    assert pieces == list(_split_greedily(text, width))


def _split_greedily(text: str, width: int) -> Iterable[str]:
    """Yield the expected pieces, each extended by one word at a time."""
    for line in text.splitlines(keepends=True) if "\n" in text else [text]:
        piece = ""
        for word in _split_words(line):
            longer = piece + word
            quotes = min(longer.count('"'), longer.count("'"))
            if piece and text_width(_escape_except_quotes(longer)) + quotes + 2 > width:
                yield encode_string(piece)
                longer = word
            piece = longer
        yield encode_string(piece)


def _split_words(line: str) -> Iterable[str]:
    start = 0
    for index in range(1, len(line)):
        if line[index - 1] == " " and line[index] not in " \n":
            yield line[start:index]
            start = index
    yield line[start:]


def test_python_string_literal_in_too_few_columns_is_split_at_every_space() -> None:
    value = " ".join(["plain words"] * 10)
    literal = encode_literal(value, " " * 100)
    assert ast.literal_eval(literal) == value
    assert literal.count('"plain "') == 10
