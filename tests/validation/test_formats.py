"""Asserted formats: accepted and rejected texts, messages and time."""

from __future__ import annotations

import time
from typing import Any

import pytest

from toolcast_runtime.core.calls.tool_validators import Validators
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.core.validation.checker import Checker
from toolcast_runtime.core.validation.compiled import ASSERTED_FORMATS, FORMATS

VALID = {
    "date": ["2024-02-29", "0001-01-01"],
    "date-time": [
        "2026-11-22T14:30:00Z",
        "2026-11-22t14:30:00.123456789z",
        "2026-11-22T14:30:00-00:00",
        "2016-12-31T23:59:60Z",
        "2016-12-31T15:59:60-08:00",
    ],
    "time": ["14:30:00Z", "14:30:00.5+01:00", "23:59:60Z"],
    "duration": ["P1D", "PT36H", "P1Y2M3DT4H5M6S", "P2W"],
    "uuid": [
        "550e8400-e29b-41d4-a716-446655440000",
        "550E8400-E29B-41D4-A716-446655440000",
        "00000000-0000-0000-0000-000000000000",
    ],
    "decimal": ["12.50", "0", "-0.00", "9" * 1_000, "1.000000000000000000001"],
    "email": ["ada@example.com", "ada@localhost", '"a b"@c.d', "a@[127.0.0.1]"],
    "uri": ["https://example.com/a?b=c#d", "urn:isbn:0451450523", "mailto:a@b.c"],
    "ipv4": ["192.0.2.1", "0.0.0.0"],
    "ipv6": ["::1", "2001:db8::1", "::ffff:192.0.2.1"],
    "regex": ["^[a-z]+$", r"(?<=a)\d", r"\p{L}"],
}
INVALID = {
    "date": ["2023-02-29", "2024-2-3", "20240229", "2024-02-29T00:00:00Z", "today", ""],
    "date-time": [
        "2026-11-22T14:30:00",
        "2026-11-22 14:30:00Z",
        "2026-11-22T14:30Z",
        "2026-11-22T24:00:00Z",
        "2026-11-22T14:30:00+0100",
        "2016-12-31T22:59:60Z",
        "2026-11-22",
    ],
    "time": ["14:30:00", "14:30Z", "24:00:00Z", "22:59:60Z"],
    "duration": ["P", "PT", "P1.5D", "PT0.5S", "-P1D", "P1W2D", "PT1S1M", "3 days"],
    "uuid": [
        "550e8400e29b41d4a716446655440000",
        "{550e8400-e29b-41d4-a716-446655440000}",
        "urn:uuid:550e8400-e29b-41d4-a716-446655440000",
    ],
    "decimal": ["", "1e3", "+1", "007", ".5", "5.", "1,50", "NaN", "1 ", "1\n", "١"],
    "email": ["ada", "@b", "a..b@c.d", "jörg@example.com", "a@müller.de"],
    "uri": ["/a", "example.com", "http://a b", "https://münchen.de", "http://a/%zz"],
    "ipv4": ["01.2.3.4", "1.2.3", "1.2.3.256", "192.0.2.0/24"],
    "ipv6": ["::1%eth0", "1::2::3", "[::1]", "192.0.2.1"],
    "regex": ["(", "(?P<name>a)", r"\Z"],
}
CASES = [
    pytest.param(name, text, is_valid, id=f"{name}: {text}")
    for is_valid, table in ((True, VALID), (False, INVALID))
    for name, texts in table.items()
    for text in texts
]


def list_problems(schema: Any, value: Any, *, asserts: bool = True) -> list[str]:
    return Checker(schema, asserts_formats=asserts).problems(value)


def test_every_asserted_json_schema_format_has_test_examples() -> None:
    assert VALID.keys() == INVALID.keys() == ASSERTED_FORMATS.keys()


DIALECTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-04/schema#",
)


@pytest.mark.parametrize(("name", "text", "is_valid"), CASES)
def test_text_is_validated_by_its_format_keyword_in_each_json_schema_dialect(
    name: str, text: str, is_valid: bool
) -> None:
    """Older dialects define fewer formats; their assertions are identical."""
    for dialect in DIALECTS:
        schema = {"$schema": dialect, "format": name}
        assert (not list_problems(schema, text)) == is_valid, dialect
        assert not list_problems(schema, text, asserts=False)
        assert not list_problems(schema, 3) and not list_problems(schema, None)


@pytest.mark.parametrize("name", ASSERTED_FORMATS)
def test_format_problem_message_describes_the_format_with_an_example(name: str) -> None:
    schema = {"properties": {"a": {"items": {"type": "string", "format": name}}}}
    example = ASSERTED_FORMATS[name].example
    assert not list_problems(schema, {"a": [example]})
    (problem,) = list_problems(schema, {"a": [example, "("]})
    assert problem == (
        f'`a[1]` must be {ASSERTED_FORMATS[name].description} (`format: {name}`), such as "{example}"'
    )


@pytest.mark.parametrize(
    "name", [*sorted({*FORMATS} - {*ASSERTED_FORMATS}), "int32", "sku"]
)
def test_formats_that_toolcast_does_not_assert_accept_every_text(name: str) -> None:
    assert not list_problems({"format": name}, " no such thing \\")


def test_format_keyword_below_ref_and_anyof_rejects_invalid_dates() -> None:
    schema = {
        "properties": {
            "due": {"$ref": "#/$defs/day"},
            "at": {"anyOf": [{"$ref": "#/$defs/day"}, {"type": "null"}]},
        },
        "$defs": {"day": {"type": "string", "format": "date"}},
    }
    assert not list_problems(schema, {"due": "2026-11-22", "at": None})
    assert sorted(list_problems(schema, {"due": "soon", "at": "soon"})) == [
        "`at` matches none of the 2 alternatives of `anyOf`; number 1 (day) comes nearest:"
        ' `at` must be a date (`format: date`), such as "2026-11-22"',
        '`due` must be a date (`format: date`), such as "2026-11-22"',
    ]


def test_output_schema_format_keywords_accept_every_result_text() -> None:
    schema = {"type": "string", "format": "date"}
    definition = {"name": "note", "inputSchema": {}, "outputSchema": schema}
    tool = Tool("note", "Note.", "Note.", definition)
    assert not Validators(asserts_formats=True).check_result(tool, "soon")


GROUPS = "".join(f"(?<a{number}>)" for number in range(40_000))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        GROUPS,
        "(" * 1_000_000,
        "a@" * 500_000,
        "http://" + "a" * 1_000_000,
        "2026-11-22T14:30:00." + "1" * 1_000_000,
        "P" + "1" * 1_000_000,
        ":" * 1_000_000,
        ["x"] * 100_000,
    ],
    ids=["groups", "brackets", "at", "host", "fraction", "digits", "colons", "many"],
)
def test_hostile_text_is_checked_for_each_format_in_bounded_time(text: Any) -> None:
    for name in ASSERTED_FORMATS:
        schema = {"format": name, "items": {"format": name}}
        checker = Checker(schema, asserts_formats=True)
        start = time.process_time()
        found = checker.problems(text)
        assert time.process_time() - start < 0.5, name
        assert all(len(problem) <= 600 for problem in found)
