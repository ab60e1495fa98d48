"""Python literals: any value comes back exactly, and black has nothing to change."""

from __future__ import annotations

import ast
from typing import Any

import black
import pytest
from black.strings import str_width
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolcast.encoders.layout import Text, text_width
from toolcast.encoders.python import (
    call,
    code_of,
    encode,
    identifier,
    keyword_argument,
    literal,
    string,
)
from toolcast.reading.characters import is_plain

MODE = black.Mode(target_versions={black.TargetVersion.PY311})
# Words and line breaks make long prose; `text()` makes everything else.
WORDS = st.lists(
    st.sampled_from(["a", "word", "'", '"', "\\", "\n", "  ", "日本語", "x" * 30, "é"]),
    max_size=60,
).map(" ".join)
TEXTS = st.one_of(st.text(), WORDS)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)
    ),
    max_leaves=12,
)


@given(TEXTS)
@example("\u2028\u202e\x00\x7f\x85\ufeff\U000e0041\U0001f600\ud800")
@example("\"\"\"'''\\")
@example("\r\n\t\f\v")
@example("{{ 7 }} # noqa \\N{DASH} %s {0}")
def test_string_comes_back(text: str) -> None:
    literal_ = string(text)
    assert ast.literal_eval(literal_) == text
    assert len(literal_.splitlines()) == 1
    assert literal_.isprintable()


@given(JSON)
def test_value_comes_back_with_its_types(value: Any) -> None:
    back = ast.literal_eval(f"({literal(value)})")
    assert repr(back) == repr(value)


@given(JSON)
@settings(max_examples=150, deadline=None)
def test_black_keeps_an_assignment(value: Any) -> None:
    source = f"{literal(value, 0, 'VALUE = ')}\n"
    assert black.format_str(source, mode=MODE) == source


@given(JSON, JSON)
@settings(max_examples=150, deadline=None)
def test_black_keeps_a_call(one: Any, two: Any) -> None:
    arguments = [keyword_argument("name", encode(one)), encode(two)]
    source = f"{code_of(call('Tool', arguments), 0, 'TOOL = ')}\n"
    source = source.replace("name=", "name=", 1)
    ordered = [
        keyword_argument("name", encode(one)),
        keyword_argument("b", encode(two)),
    ]
    source = f"{code_of(call('Tool', ordered), 0, 'TOOL = ')}\n"
    assert black.format_str(source, mode=MODE) == source


@given(TEXTS, TEXTS)
@settings(max_examples=150, deadline=None)
def test_black_keeps_a_dict(key: str, value: str) -> None:
    source = f"{literal({key: value, 'more': [value]}, 0, 'VALUE = ')}\n"
    assert black.format_str(source, mode=MODE) == source


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_number_that_json_has_not(number: float) -> None:
    with pytest.raises(ValueError, match="not a JSON number"):
        encode(number)


@pytest.mark.parametrize("value", [b"x", {1}, object()])
def test_value_that_json_has_not(value: object) -> None:
    with pytest.raises(TypeError, match="not a JSON value"):
        encode(value)


@pytest.mark.parametrize("name", ["class", "a-b", "", "1a", "a b", "é", "x\n"])
def test_what_is_no_identifier(name: str) -> None:
    with pytest.raises(ValueError, match="not a Python identifier"):
        identifier(name)


def test_identifier_is_printed() -> None:
    assert code_of(call(identifier("run"), [Text("x")])) == "run(x)"


def test_every_character_is_as_wide_as_for_black() -> None:
    plain = (chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    differ = [c for c in plain if is_plain(c) and text_width(c) != str_width(c)]
    assert differ == []
