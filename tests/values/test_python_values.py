"""Formatted strings converted to Python values at any depth, and back."""

from __future__ import annotations

import time as clock
import uuid
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from toolcast_runtime.core.calls.execution import to_plain_json
from toolcast_runtime.core.context import ArgumentConversionError
from toolcast_runtime.values.python_values import ENCODINGS, BytesEncoder, PythonValues

DAY = {"type": "string", "format": "date"}
ID = "550e8400-e29b-41d4-a716-446655440000"
PAIRS = [
    ({"format": "date"}, "2024-02-29", date(2024, 2, 29)),
    (
        {"format": "date-time"},
        "2026-11-22T14:30:00+01:00",
        datetime(2026, 11, 22, 14, 30, tzinfo=timezone(timedelta(hours=1))),
    ),
    (
        {"format": "date-time"},
        "2026-11-22T14:30:00Z",
        datetime(2026, 11, 22, 14, 30, tzinfo=UTC),
    ),
    ({"format": "time"}, "14:30:00Z", time(14, 30, tzinfo=UTC)),
    ({"format": "duration"}, "P1DT2H3M4S", timedelta(1, 4, 0, 0, 3, 2)),
    ({"format": "duration"}, "PT36H", timedelta(hours=36)),
    ({"format": "duration"}, "P2W", timedelta(weeks=2)),
    ({"format": "uuid"}, ID, uuid.UUID(ID)),
    ({"format": "decimal"}, "12.50", Decimal("12.50")),
    ({"format": "decimal"}, "-0.00", Decimal("-0.00")),
    ({"format": "decimal"}, "1" + "0" * 99, Decimal("1" + "0" * 99)),
    ({"contentEncoding": "base64"}, "AP/+", b"\x00\xff\xfe"),
    ({"format": "byte"}, "", b""),
    ({"format": "base64url"}, "AP_-", b"\x00\xff\xfe"),
    ({"contentEncoding": "base64url"}, "AP8", b"\x00\xff"),
    ({"contentEncoding": "base64url"}, "AP8=", b"\x00\xff"),
    ({"contentEncoding": "base32", "format": "byte"}, "AD7Q====", b"\x00\xff"),
    ({"contentEncoding": "base32"}, "ad7q====", b"\x00\xff"),
    ({"contentEncoding": "base32hex"}, "03VG====", b"\x00\xff"),
    ({"contentEncoding": "base16"}, "00FfFE", b"\x00\xff\xfe"),
    ({"contentEncoding": "quoted-printable"}, "a=3D=\r\nb=00", b"a=b\x00"),
]
UNCONVERTED = [
    ({"format": "email"}, "a@b.c"),
    ({"format": "uri"}, "https://a"),
    ({"format": "ipv4"}, "192.0.2.1"),
    ({"format": "binary"}, "AP/+"),
    ({"contentEncoding": "8bit"}, "AP/+"),
    ({"contentEncoding": "hex"}, "00ff"),
    ({"enum": ["2024-02-29"]}, "2024-02-29"),
    ({"format": "date"}, 20240229),
    ({"format": "decimal"}, 12.5),
    ({"format": "date"}, None),
]


def convert(schema: Any, value: Any) -> Any:
    root = {"type": "object", "properties": {"a": schema}}
    return PythonValues(root).convert({"a": value, "other": "2024-02-29"})["a"]


@pytest.mark.parametrize(("schema", "text", "value"), PAIRS)
def test_string_with_a_format_is_converted_to_the_formats_python_type(
    schema: Any, text: str, value: Any
) -> None:
    """With `values: python`, such as a `date` for a string with `format: date`."""
    found = convert(schema, text)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(("schema", "value"), UNCONVERTED)
def test_argument_that_is_no_string_or_has_no_convertible_format_is_passed_unchanged(
    schema: Any, value: Any
) -> None:
    found = convert(schema, value)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"items": DAY}, ["2024-02-29"], [date(2024, 2, 29)]),
        (
            {"prefixItems": [{}, DAY], "items": {"format": "uuid"}},
            ["2024-02-29", "2024-02-29", ID],
            ["2024-02-29", date(2024, 2, 29), uuid.UUID(ID)],
        ),
        ({"$ref": "#/$defs/day"}, "2024-02-29", date(2024, 2, 29)),
        ({"allOf": [{"type": "string"}, DAY]}, "2024-02-29", date(2024, 2, 29)),
        ({"anyOf": [DAY, {"type": "null"}]}, None, None),
        ({"anyOf": [DAY, {"type": "null"}]}, "2024-02-29", date(2024, 2, 29)),
        ({"oneOf": [{"format": "date-time"}, DAY]}, "2024-02-29", date(2024, 2, 29)),
        ({"anyOf": [DAY, {"enum": ["today"]}]}, "today", "today"),
        (
            {
                "patternProperties": {"_at$": DAY},
                "additionalProperties": {"items": DAY},
            },
            {"b_at": "2024-02-29", "c": ["2024-02-29"]},
            {"b_at": date(2024, 2, 29), "c": [date(2024, 2, 29)]},
        ),
        (
            {
                "oneOf": [
                    {"properties": {"kind": {"const": "day"}, "at": DAY}},
                    {"properties": {"kind": {"const": "text"}, "at": {}}},
                ]
            },
            {"kind": "text", "at": "2024-02-29"},
            {"kind": "text", "at": "2024-02-29"},
        ),
        (
            {
                "if": {"required": ["exact"]},
                "then": {"properties": {"at": {"format": "date-time"}}},
                "else": {"properties": {"at": DAY}},
            },
            {"at": "2024-02-29"},
            {"at": date(2024, 2, 29)},
        ),
        (
            {
                "dependentSchemas": {
                    "from": {"properties": {"at": DAY}},
                    "to": {"properties": {"by": DAY}},
                }
            },
            {"from": 1, "at": "2024-02-29", "by": "2024-02-29"},
            {"from": 1, "at": date(2024, 2, 29), "by": "2024-02-29"},
        ),
        (
            {"$ref": "#/$defs/tree"},
            {"at": "2024-02-29", "below": [{"at": "2024-02-29"}]},
            {"at": date(2024, 2, 29), "below": [{"at": date(2024, 2, 29)}]},
        ),
    ],
)
def test_formatted_strings_below_ref_anyof_and_items_are_converted_to_python_values(
    schema: Any, value: Any, expected: Any
) -> None:
    tree = {"properties": {"at": DAY, "below": {"items": {"$ref": "#/$defs/tree"}}}}
    root = {"properties": {"a": schema}, "$defs": {"day": DAY, "tree": tree}}
    before = repr(value)
    assert PythonValues(root).convert({"a": value}) == {"a": expected}
    assert repr(value) == before


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("date", "0000-01-01", "must be a date of the years 1 to 9999"),
        ("date-time", "2016-12-31T23:59:60Z", "without a leap second"),
        ("time", "23:59:60Z", "must be a time with a time zone without a leap second"),
        ("duration", "P1Y", "must be a duration without years and months"),
        ("duration", "P" + "9" * 5_000 + "D", "must be a duration without"),
        ("duration", "P999999999999D", "must be a duration without"),
        ("uuid", "no", "must be a UUID"),
        ("decimal", "9" * 101, "without an exponent of at most 100 characters"),
        ("byte", "a", "`a[0]` must be base64"),
        ("byte", "é" * 4, "`a[0]` must be base64"),
        ("base64url", "AP/+", "`a[0]` must be base64url"),
        ("base64url", "AP8=A", "`a[0]` must be base64url"),
    ],
)
def test_string_that_python_cannot_convert_by_its_format_is_reported_with_its_json_path(
    name: str, text: str, problem: str
) -> None:
    with pytest.raises(ArgumentConversionError) as refused:
        convert({"items": {"format": name}}, [text])
    (message,) = refused.value.problems
    assert problem in message and message.startswith("`a[0]` must be ")


def test_at_most_10_arguments_that_cannot_be_converted_are_reported() -> None:
    with pytest.raises(ArgumentConversionError) as refused:
        convert({"items": {"format": "uuid"}}, ["no"] * 12)
    places = [problem.partition(" must be")[0] for problem in refused.value.problems]
    assert places == [f"`a[{place}]`" for place in range(10)]


@pytest.mark.timeout(30)
def test_nested_anyof_conversion_ends_early_with_too_many_alternatives() -> None:
    """Each level of `anyOf` compares all nested values with its alternatives."""
    node = {"properties": {"at": DAY, "below": {"$ref": "#/$defs/node"}}}
    choice = {"anyOf": [{**node, "required": ["at"]}, {**node, "required": ["below"]}]}
    values = PythonValues({"$ref": "#/$defs/node", "$defs": {"node": choice}})
    deep: dict[str, Any] = {"at": "2024-02-29"}
    for _ in range(100):
        deep = {"at": "2024-02-29", "below": deep, "n": list(range(100))}
    start = clock.process_time()
    with pytest.raises(
        ArgumentConversionError, match="1 arguments cannot be converted"
    ) as refused:
        values.convert(deep)
    assert clock.process_time() - start < 2
    assert refused.value.problems[0].endswith("has too many alternatives")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_bytes_in_each_content_encoding_are_decoded_to_the_same_bytes(
    encoding: str,
) -> None:
    schema = {"contentEncoding": encoding}
    written = BytesEncoder({"items": schema})
    for value in (bytes(range(256)) * 3, b"\r\n", b"a\nb \r", b"=", b""):
        (text,) = to_plain_json(written.encode([value]), has_python_values=True)
        assert isinstance(text, str) and convert(schema, text) == value


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_invalid_text_for_each_content_encoding_is_rejected_within_half_a_second(
    encoding: str,
) -> None:
    texts = ["=", "=Z", "é", "\0", "A===", "AAAAAAAA====", "=\r", "=" * 10**6]
    for text in [*texts, "A" * 10**6 + "="]:
        start = clock.process_time()
        with pytest.raises(
            ArgumentConversionError, match="1 arguments cannot be converted"
        ) as refused:
            convert({"contentEncoding": encoding}, text)
        assert refused.value.problems == [f"`a` must be {encoding}"]
        assert clock.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        ({"$ref": "#/$defs/hex"}, b"\xff", "FF"),
        ({"anyOf": [{"type": "null"}, {"$ref": "#/$defs/hex"}]}, b"\xff", "FF"),
        ({"anyOf": [{"type": "null"}, {"$ref": "#/$defs/hex"}]}, None, None),
        (
            {"prefixItems": [{}, {"$ref": "#/$defs/hex"}]},
            (b"\xff", b"\xff"),
            ["/w==", "FF"],
        ),
        ({"format": "byte"}, b"\xff", "/w=="),
        ({"$ref": "#/$defs/hex"}, {"at": [date(2024, 2, 29)]}, {"at": ["2024-02-29"]}),
        (
            {"additionalProperties": {"$ref": "#/$defs/hex"}},
            {"b": b"\xff"},
            {"b": "FF"},
        ),
    ],
)
def test_bytes_in_a_result_are_encoded_by_content_encoding_in_the_returns_schema(
    schema: Any, value: Any, text: Any
) -> None:
    whole = {
        "properties": {"a": schema},
        "$defs": {"hex": {"contentEncoding": "base16"}},
    }
    written = BytesEncoder(whole).encode({"a": value})
    assert to_plain_json(written, has_python_values=True) == {"a": text}
