"""JSON that is read and written without loss, and the limits for reading."""

from __future__ import annotations

import pytest

from toolcast.parsing.exact_json import (
    JsonError,
    convert_to_floats,
    encode_exact,
    read_json,
)


@pytest.mark.parametrize(
    "text",
    [
        '{"b":[1,1.0,1.10,1E3,-0,-0.0,1e400],"a":{"c":null,"d":true}}',
        "9" * 4_000,
        "[" * 320 + "]" * 320,
        '{"a":' * 200 + "1" + "}" * 200,
        '"1e400 NaN \\" 1"',
    ],
)
def test_json_read_with_read_json_is_written_unchanged_by_encode_exact(
    text: str,
) -> None:
    assert encode_exact(read_json(text)[0]) == text


@pytest.mark.parametrize(
    ("data", "line", "column", "message"),
    [
        ("9" * 4_001, 1, 1, "a number has 4,001 digits; the maximum is 4,000"),
        ("[" * 321 + "]" * 321, 1, 1, "the value is nested deeper than 320 levels"),
        ("[" * 100_000 + "]" * 100_000, 1, 1, "the value is nested too deeply"),
        ('{"NaN":\n ["NaN", NaN]}', 2, 10, "`NaN` is not a JSON value"),
        ("[1,\n -Infinity]", 2, 2, "`-Infinity` is not a JSON value"),
        (b'{"a":\n "\xff"}', 2, 3, "a byte is not UTF-8"),
        (b"\xff", 1, 1, "a byte is not UTF-8"),
        ("[1,\n x]", 2, 2, "Expecting value"),
    ],
)
def test_read_json_error_has_the_position_and_reason(
    data: bytes | str, line: int, column: int, message: str
) -> None:
    with pytest.raises(JsonError) as caught:
        read_json(data)
    error = caught.value
    assert (str(error), error.line, error.column) == (message, line, column)


def test_read_json_returns_each_duplicate_key_once_and_its_last_value() -> None:
    text = '{"b": 1, "a": [{"c": 1, "c": 2}], "b": 2, "b": 3}'
    assert read_json(text) == ({"b": 3, "a": [{"c": 2}]}, ("c", "b"))


def test_convert_to_floats_limits_numbers_to_finite_floats() -> None:
    value, _ = read_json('{"a": [1e400, -1e400, 1.10, 2]}')
    largest = 1.7976931348623157e308
    converted = convert_to_floats(value)
    assert converted == {"a": [largest, -largest, 1.1, 2]}
    assert [type(number) for number in converted["a"]] == [float, float, float, int]
