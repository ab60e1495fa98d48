"""JSON, YAML and Markdown encodings of spec texts, and names derived from them."""

from __future__ import annotations

import json
import keyword
import re
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from toolcast.encoders.json_text import encode_compact_json, encode_json
from toolcast.encoders.markdown import encode_block, encode_inline
from toolcast.encoders.python import option_name
from toolcast.encoders.yaml_block import encode_entry, encode_scalar
from toolcast.parsing.yaml_reader import read_yaml
from toolcast_runtime.core.definitions.tool import module_name
from toolcast_runtime.values.annotated_types import class_name, is_keyword_argument

JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=10,
)
TOOL_NAMES = st.from_regex(r"[A-Za-z0-9_.-]{1,128}", fullmatch=True)
MARKDOWN = st.lists(
    st.one_of(
        st.text(max_size=20),
        st.sampled_from(
            [
                *"# #x === --- ``` ~~~ ```` ```py text - = ***".split(),
                *["", "# x", "## x", "   # x", "    # x", "####### x", "- - -"],
                *["-----  ", "  ```", "- item", "> # q", "\t# x", "- # x", "1. # x"],
            ]
        ),
    ),
    max_size=8,
).map("\n".join)
OBJECTS = st.dictionaries(st.text(), JSON, max_size=4)


@given(OBJECTS)
def test_json_encoders_return_printable_text_of_the_same_value(value: Any) -> None:
    assert repr(json.loads(encode_compact_json(value))) == repr(value)
    assert "\n" not in encode_compact_json(value)
    for opened in ((), tuple(value)):
        text = str(encode_json(value, opened))
        assert repr(json.loads(text)) == repr(value)
        assert text.endswith("}\n")
        # Characters that are not visible are escaped.
        assert text.replace("\n", "").isprintable()
    # The runtime removes line breaks and indents before it serves the text.
    text = "".join(line.strip(" ") for line in encode_json(value).split("\n"))
    assert repr(json.loads(text)) == repr(value)


def test_encode_json_writes_short_objects_on_one_line_and_indents_others() -> None:
    value = {
        "short": {"type": "array", "items": {"type": "string"}},
        "opened": {"name": "é", "empty": {}},
        "long": ["word" * 5] * 4,
        "text": "x" * 100,
        "object": {"a": "y" * 80, "b": [1, 2.5, None, True]},
        "hidden": "a\u200bb\U0001f600\U000e0041\x7f",
    }
    expected = """{
  "short": {"type": "array", "items": {"type": "string"}},
  "opened": {
    "name": "é",
    "empty": {}
  },
  "long": [
    "wordwordwordwordword",
    "wordwordwordwordword",
    "wordwordwordwordword",
    "wordwordwordwordword"
  ],
  "text": "XXX",
  "object": {
    "a": "YYY",
    "b": [1, 2.5, null, true]
  },
  "hidden": "a\\u200bb\U0001f600\\udb40\\udc41\\u007f"
}
"""
    expected = expected.replace("XXX", "x" * 100).replace("YYY", "y" * 80)
    assert encode_json(value, ("opened",)) == expected


@pytest.mark.parametrize("length", range(60, 90))
def test_encode_json_keeps_an_object_on_one_line_up_to_88_columns(length: int) -> None:
    text = encode_json({"a": {"b": "x" * length}, "c": [["y" * length]]})
    first = text.split("\n")[1]
    assert (first == '  "a": {') == (length > 71)
    assert len(first) <= 88


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("a", f"x {'y' * 83}", f"a: x {'y' * 83}"),
        ("a", f"x {'y' * 84}", f"a: >-\n  x {'y' * 84}"),
        ("a", ["x", "y" * 80], f"a: [x, {'y' * 80}]"),
        ("a", ["x", "y" * 81], f"a:\n  - x\n  - {'y' * 81}"),
        ("a", [[f"x {'y' * 80}"]], f"a:\n  - [x {'y' * 80}]"),
        ("a", [[f"x {'y' * 81}"]], f"a:\n  -\n    - >-\n      x\n      {'y' * 81}"),
        ("a", f"{'x' * 80} yyyyy {'z' * 4}", f"a: >-\n  {'x' * 80} yyyyy\n  zzzz"),
        ("a", f"{'x' * 80} yyyyyy z", f"a: >-\n  {'x' * 80}\n  yyyyyy z"),
        ("k" * 999, 1, f"{'k' * 999}: 1"),
        ("k" * 1000, 1, f"? {'k' * 1000}\n: 1"),
    ],
)
def test_encode_entry_writes_yaml_lines_up_to_88_columns_and_keys_up_to_999_characters(
    key: str, value: Any, text: str
) -> None:
    """Longer text is folded, a longer list has a line per item, a longer key a `?`."""
    assert str(encode_entry(key, value)) == f"{text}\n"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1: 2}, b"x", {"a"}])
def test_encode_json_raises_for_a_value_outside_json(value: Any) -> None:
    with pytest.raises(ValueError, match="not a JSON value"):
        encode_json({"a": [value]})


def test_encode_compact_json_raises_for_nan() -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode_compact_json(float("nan"))


@given(TOOL_NAMES)
@example("no")
@example("Null")
@example("1e3")
@example("12:30")
@example("-")
@example("~")
def test_tool_name_encoded_as_yaml_scalar_is_read_back_unchanged(name: str) -> None:
    line = f"name: {encode_scalar(name)}\n"
    assert yaml.safe_load(line) == {"name": name}
    document, findings = read_yaml("x.yaml", line.encode())
    assert findings == []
    assert document is not None
    assert document.value == {"name": name}


@given(TOOL_NAMES)
@example("class")
@example("con")
@example("test_x")
@example("__init__")
@example("...")
@example("1.5")
def test_module_and_class_names_of_any_tool_name_are_valid_python(name: str) -> None:
    module = module_name(name)
    assert re.fullmatch(r"[a-z_][a-z0-9_]*", module)
    assert not keyword.iskeyword(module)
    assert not module.startswith("test_")
    assert not module.endswith("_test")
    assert not module.startswith("__")
    assert class_name(name).isidentifier()
    assert not keyword.iskeyword(class_name(name))


@given(st.text())
def test_any_parameter_cli_option_name_is_one_shell_argument(parameter: str) -> None:
    assert re.fullmatch(r"--[a-z0-9]+(-[a-z0-9]+)*", option_name(parameter))


@given(st.text())
@example("from")
@example("self")
@example("__x")
@example("é")
def test_is_keyword_argument_accepts_only_a_parameter_name_that_python_compiles(
    parameter: str,
) -> None:
    if is_keyword_argument(parameter):
        exec(f"def f(*, {parameter}): ...", {})


@given(st.text().filter(lambda text: not re.search(r"[\r\n]|\]:|<[A-Za-z/!?]", text)))
def test_encode_inline_only_strips_a_markdown_text_without_html_or_link_definition(
    text: str,
) -> None:
    assert encode_inline(text) == text.strip()


@pytest.mark.parametrize("text", ["a\nb", "a\r", "\n"])
def test_encode_inline_raises_for_a_markdown_text_with_line_breaks(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        encode_inline(text)


def split_outside_fences(text: str) -> tuple[list[str], bool]:
    """Return the lines outside fenced blocks, and whether a fence is unclosed.

    Source: CommonMark 0.31.2, section 4.5.
    """
    lines, fence = [], ""
    for line in text.split("\n"):
        match = re.match(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$", line)
        if fence:
            if (
                match
                and match[1][0] == fence[0]
                and len(match[1]) >= len(fence)
                and not match[2].strip(" \t")
            ):
                fence = ""
        elif match:
            fence = match[1]
        else:
            lines.append(line)
    return lines, bool(fence)


@given(MARKDOWN)
@example("text\n=")
@example("text\n-")
@example("```\n# inside stays")
@example("``` a`b\n# not a fence")
@example("```\n~~~\n# x")
@example("```\n``` py\n# still inside\n```")
@example("0\n\x85")
def test_encode_block_only_escapes_headings_and_closes_fences(text: str) -> None:
    """White space is the only removed text, and encoded text stays unchanged."""
    block = encode_block(text)
    assert encode_block(block) == block
    expected = re.escape(re.sub(r"[\s\\]", "", text)) + "(`{3,}|~{3,})?"
    assert re.fullmatch(expected, re.sub(r"[\s\\]", "", block), re.DOTALL)
    lines, is_open = split_outside_fences(block)
    assert not is_open
    for previous, line in zip(["", *lines], lines, strict=False):
        assert not re.match(r"^ {0,3}#{1,6}(\s|$)", line), line
        if previous.strip():
            assert not re.match(r"^ {0,3}(=+|-+)\s*$", line), (previous, line)


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1e-5)
@example(1.5e-5)
@example(1e-7)
@example(2.5e-9)
@example(1e-10)
@example(1e16)
def test_encode_json_writes_numbers_like_the_mcp_sdk(number: float) -> None:
    pydantic_core = pytest.importorskip("pydantic_core")
    expected = pydantic_core.to_json(number).decode()
    assert encode_json({"n": number, "s": "1e-05"}) == (
        f'{{\n  "n": {expected},\n  "s": "1e-05"\n}}\n'
    )
