"""Python literals, types and calls: exact values, and unchanged by black."""

from __future__ import annotations

import ast
import keyword
from typing import Any

import black
import pytest
from black.strings import str_width
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties import limit_examples
from toolcast.encoders.python import (
    build_literal,
    encode_identifier,
    encode_import,
    encode_literal,
    encode_name_tuple,
    encode_string,
    join_identifiers,
    text_width,
)
from toolcast.encoders.python_types import (
    build_literal_type,
    build_named_type,
    build_subscript,
    build_union,
    encode_annotation,
    encode_call,
    encode_chained_call,
    encode_fields,
    encode_method_parameters,
    encode_parameters,
    encode_typed_dict,
)
from toolcast.parsing.characters import is_printable

MODE = black.Mode(target_versions={black.TargetVersion.PY311})
# Words and line breaks make long texts; `text()` draws unusual characters.
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
def test_encode_string_returns_a_literal_that_evaluates_to_the_text(text: str) -> None:
    literal_ = encode_string(text)
    assert ast.literal_eval(literal_) == text
    assert len(literal_.splitlines()) == 1
    assert literal_.isprintable()


@given(JSON)
def test_encode_literal_returns_python_that_evaluates_to_the_value(value: Any) -> None:
    evaluated = ast.literal_eval(f"({encode_literal(value)})")
    assert repr(evaluated) == repr(value)


@given(JSON, st.dictionaries(TEXTS, TEXTS, max_size=2), st.lists(TEXTS, max_size=5))
@limit_examples(150)
def test_black_does_not_change_encode_literal_assignments_and_arguments(
    value: Any, texts: dict[str, str], values: list[str]
) -> None:
    rows = [
        f"VALUE = {encode_literal(value, 'VALUE = ')}",
        f"TEXTS = {encode_literal({**texts, 'more': values}, 'TEXTS = ')}",
        f"TUPLE = {encode_literal(tuple(values), 'TUPLE = ')}",
        f"TOOL = Tool(\n    a={encode_literal(value, '    a=', ',')},",
        f"    b={encode_literal(texts, '    b=', ',')},\n)\n",
    ]
    source = "\n".join(rows)
    assert black.format_str(source, mode=MODE) == source
    assert ast.literal_eval(f"({encode_literal(tuple(values))})") == tuple(values)


NAMES = st.from_regex(r"[a-z][a-z_]{0,40}", fullmatch=True).filter(str.isidentifier)
CHOICES = st.lists(TEXTS | st.integers() | st.booleans(), min_size=1, max_size=9)
TYPES = st.recursive(
    CHOICES.map(build_literal_type)
    | st.sampled_from(["str", "Any", "None"]).map(build_named_type),
    lambda inner: st.one_of(
        inner.map(lambda one: build_subscript("list", [one])),
        st.lists(inner, min_size=2, max_size=4).map(build_union),
    ),
    max_leaves=6,
)


@given(st.dictionaries(NAMES, TYPES, max_size=5), st.booleans())
@limit_examples(100)
def test_black_does_not_change_encoded_annotations(fields: Any, required: bool) -> None:
    fields = {k: v for k, v in fields.items() if not keyword.iskeyword(k)}
    rows = [
        f"    {name}: {encode_annotation(type_, f'    {name}: ')}"
        for name, type_ in fields.items()
    ]
    required_names = frozenset(fields) if required else frozenset()
    signature = ("    def __call__", " -> object: ...")
    source = "\n".join(
        [
            "class One(TypedDict):",
            '    """It."""',
            *(["", *rows] if rows else []),
            "",
            "",
            f"Two = {encode_typed_dict(fields, 'Two = ')}",
            "",
            "",
            "class Three(Protocol):",
            f"    def __call__{encode_method_parameters(fields, required_names, *signature)} -> object: ...",
            "",
        ]
    )
    assert black.format_str(source, mode=MODE) == source


@pytest.mark.parametrize("length", range(1, 90))
def test_black_does_not_change_encoded_imports_calls_and_functions(length: int) -> None:
    name, margin = "a" * length, "        "
    line = encode_import(f"{name}.b", [name], indent=8)
    parameters = encode_parameters(
        [("x", build_named_type(name))], "    def f", " -> None:"
    )
    two_parameters = encode_parameters(
        [("x", build_named_type(name)), ("**y", build_named_type("A"))],
        "    def f",
        " -> None:",
    )
    shortest = encode_chained_call(
        "form", name, "given", {"b": "left", "c": "left"}, f"{margin}_ = "
    )
    longest = encode_chained_call(
        "form", name, "given", {}, f"{margin}result = ", unpack_arguments=True
    )
    call = encode_call(name, [encode_identifier("result")], margin)
    rows = [f"_ = {shortest}", f"result = {longest}", call]
    source = "if X:\n" + "\n".join(
        [
            f"\n    def f{parameters} -> None:\n{margin}pass\n",
            f"    def f{two_parameters} -> None:",
            f"{margin}{line}\n",
            *(f"{margin}{row}" for row in rows),
            "",
        ]
    )
    assert black.format_str(source, mode=MODE) == source


def test_python_encoders_join_identifiers_and_reject_invalid_ones() -> None:
    assert join_identifiers(["a", "b"]) == "a, b"
    assert encode_name_tuple(["A"]) == "(A,)"
    assert encode_import("..a.b", ["c"]) == "from ..a.b import c"
    assert encode_import(".", ["c", "d"]) == "from . import c, d"
    with pytest.raises(ValueError, match="identifier"):
        encode_identifier("a; import os")
    for encode_all in (join_identifiers, encode_name_tuple):
        with pytest.raises(ValueError, match="identifier"):
            encode_all(["a()"])
    with pytest.raises(ValueError, match="identifier"):
        encode_import("a", ["b, c"])
    with pytest.raises(ValueError, match="Python type"):
        build_named_type("str = __import__('os')")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_build_literal_raises_value_error_for_an_infinite_number(number: float) -> None:
    with pytest.raises(ValueError, match="not a JSON number"):
        build_literal(number)


@pytest.mark.parametrize("value", [b"x", {1}, object()])
def test_build_literal_raises_type_error_for_a_non_json_value(value: object) -> None:
    with pytest.raises(TypeError, match="not a JSON value"):
        build_literal(value)


@pytest.mark.parametrize("name", ["class", "a-b", "", "1a", "a b", "é", "x\n"])
def test_encode_identifier_raises_value_error_for_an_invalid_one(name: str) -> None:
    with pytest.raises(ValueError, match="not a Python identifier"):
        encode_identifier(name)


def test_text_width_equals_blacks_width_for_each_character() -> None:
    chars = (chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
    differ = [c for c in chars if is_printable(c) and text_width(c) != str_width(c)]
    assert differ == []


@pytest.mark.parametrize("type_length", [1, 20, 68, 72, 80, 81, 100])
@pytest.mark.parametrize("name_length", [1, 20, 40])
def test_black_does_not_change_encoded_class_fields_with_long_names_and_types(
    name_length: int, type_length: int
) -> None:
    named = build_named_type("T" * type_length)
    types = [named, build_subscript("Sequence", [named])]
    types += [build_union([named, last]) for last in (*types, build_named_type("None"))]
    for type_ in types:
        fields = encode_fields({"f" * name_length: type_}, 4, {})
        source = f"class C:\n    {fields}\n"
        assert black.format_str(source, mode=MODE) == source
