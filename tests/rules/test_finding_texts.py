"""Text of findings: suggestions of similar names, lists, values, and limits of their length."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast.findings import (
    Finding,
    Location,
    Severity,
    group_similar,
    has_errors,
    limit_findings,
)
from toolcast.suggestions import (
    Suggestions,
    describe_value,
    did_you_mean,
    format_first,
    format_list,
    format_path,
    format_types,
    suggest_name,
)


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("find_nots", ["find_note", "store"], "did you mean `find_note`?"),
        ("FindNote", ["find_note"], "did you mean `find_note`?"),
        ("abc", ["xyz"], ""),
        # A name has at most 100 characters.
        ("a" * 100, ["a" * 99], f"did you mean `{'a' * 99}`?"),
        ("a" * 101, ["a" * 100], ""),
        # The first 1,000 known names are compared.
        ("note", ["x"] * 999 + ["notes"], "did you mean `notes`?"),
        ("note", ["x"] * 1000 + ["notes"], ""),
    ],
)
def test_did_you_mean_suggests_the_most_similar_known_name(
    name: str, known: list[str], expected: str
) -> None:
    assert did_you_mean(name, known) == expected


def test_suggest_name_returns_a_similar_name_or_lists_at_most_20_names() -> None:
    names = [f"n{number:02}" for number in range(21)]
    listed = ", ".join(f"`{name}`" for name in names[:19])
    assert suggest_name("x", []) == "none is defined"
    assert suggest_name("x", ["n00"]) == "use `n00`"
    assert suggest_name("x", names) == f"use one of {listed} and `n19`"
    assert suggest_name("note", [*names, "notes"]) == "did you mean `notes`?"


def test_suggestions_for_a_file_end_after_20_names() -> None:
    suggestions = Suggestions(["x"] * 999 + ["notes", "page"])
    assert suggestions.near("pages") == ""
    assert [suggestions.near("note") for _ in range(20)] == [
        *["did you mean `notes`?"] * 19,
        "",
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "null"),
        (True, "the boolean true"),
        ("a", "a string"),
        (1, "the number 1"),
        (1.5, "the number 1.5"),
        ([], "an array"),
        ({}, "an object"),
    ],
)
def test_describe_value_names_the_json_type_and_a_short_value(
    value: Any, expected: str
) -> None:
    assert describe_value(value) == expected


def test_lists_types_and_paths_are_formatted_as_text() -> None:
    assert format_types(["null", "other", "array"]) == "an array or null"
    assert format_path(["a", "b", 0, "c"]) == "a.b[0].c"
    assert [format_list("abc"[:count]) for count in range(4)] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert format_first(["a", "b"], 2) == "a, b"
    assert format_first(["a", "b", "c"], 2) == "a, b and 1 more"
    assert format_first(["a"] * 1002, 2) == "a, a and 1,000 more"


def make_finding(message: str, line: int = 1, **fields: Any) -> Finding:
    severity = fields.pop("severity", Severity.WARNING)
    return Finding("a/b", severity, Location("a.yaml", line), message, **fields)


def test_messages_and_helps_above_600_characters_are_shortened_in_the_middle() -> None:
    text = "a" * 300 + "b" * 300
    longer = "a" * 300 + "." + "b" * 300
    shortened = f"{'a' * 300} ... {'b' * 300}"
    findings = [make_finding(text, help=text), make_finding(longer, help=text)]
    findings += [make_finding(text, help=longer)]
    assert [(f.message, f.help) for f in limit_findings(findings)] == [
        (text, text),
        (shortened, text),
        (text, shortened),
    ]


@pytest.mark.parametrize("count", [100, 102])
def test_findings_after_a_files_100th_are_one_finding_with_the_worst_severity(
    count: int,
) -> None:
    findings = [make_finding(f"{number}", number) for number in range(count - 1)]
    findings.append(make_finding("worst", count, severity=Severity.ERROR))
    limited = limit_findings(findings)
    assert limited[:100] == findings[:100]
    assert has_errors(limited) and not has_errors(findings[:-1])
    assert [(f.rule, f.severity, f.location, f.message) for f in limited[100:]] == (
        [
            (
                "spec/too-many-findings",
                Severity.ERROR,
                Location("a.yaml"),
                "2 or more further findings are not shown",
            )
        ]
        if count > 100
        else []
    )


@pytest.mark.parametrize(("count", "shown"), [(5, 5), (6, 1)])
def test_more_than_5_findings_that_differ_in_names_and_numbers_are_one_finding(
    count: int, shown: int
) -> None:
    messages = [f"`n{number}` has {number:,} items" for number in range(count)]
    findings = [make_finding(text, line) for line, text in enumerate(messages, 1)]
    other = make_finding("`x` has no items")
    grouped = group_similar([*reversed(findings), other])
    assert len(grouped) == shown + 1
    if shown == 1:
        lines = [location.line for location in grouped[1].alike]
        assert (grouped[1].location.line, lines) == (6, [5, 4, 3, 2, 1])
