"""Limits of the reports: lists at a limit are complete, longer ones state the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.diff.reports.layout import build_change, judge_comparison
from toolcast.diff.change import ABSENT, Change, Grade, Grades
from toolcast.diff.effects import Effect, EffectKind
from toolcast.findings import Finding, Location, Severity
from toolcast.reports.change_items import (
    build_change_items,
    count_owners,
    format_differing_values,
)
from toolcast.reports.formats import report_changes, report_findings
from toolcast.reports.item import ReportContext

CONTEXT = ReportContext()


def render(changes: list[Change], report_format: str, **options: bool) -> str:
    context = CONTEXT._replace(**options)
    return report_changes(judge_comparison(changes), report_format, context)


def change_parameter(tool: str, name: str, grade: Grade = Grade.SAFE) -> Change:
    change = build_change(tool, f"`{name}` is other", 1, 2)
    grades = Grades(prompt=grade)
    return replace(change, path=("parameters", "properties", name), grades=grades)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (["find", "get"], "2 tools"),
        (["shop/find", "shop/get"], "2 tools"),
        (["prompts/a", "prompts/b"], "2 prompts"),
        (["resources/a", "resources/b"], "2 resources"),
        (["resourceTemplates/a", "resourceTemplates/b"], "2 resource templates"),
        (["prompts/a", "resources/b"], "2 entries"),
        (["prompts/a", "find"], "2 entries"),
    ],
)
def test_count_owners_uses_the_noun_for_tools_or_mcp_entries(
    labels: list[str], text: str
) -> None:
    assert count_owners(labels) == text


@pytest.mark.parametrize(
    ("omitted", "ending"),
    [
        ([], "5 is other"),
        (["f"], "and 1 more: f"),
        (["f", "g", "g"], "and 3 more: f, g (2)"),
        (
            ["some_name"] * 5 + ["x" * 40, "y" * 40],
            f"and 7 more: some_name (5), {'x' * 40},\n    {'y' * 40}",
        ),
    ],
)
def test_text_report_has_messages_for_five_risky_changes_with_the_same_rule(
    omitted: list[str], ending: str
) -> None:
    changes = [
        change_parameter(tool, f"p{number}", Grade.RISKY)
        for number, tool in enumerate([*"abcde", *omitted], 1)
    ]
    first_paragraph = render(changes, "text").partition("\n\n")[0]
    assert first_paragraph.replace("`", "").endswith(ending)


@pytest.mark.parametrize(("names", "fields"), [("abcd", ""), ("abcde", " and 1 more")])
def test_report_lists_four_changed_fields_per_tool(names: str, fields: str) -> None:
    changes = [change_parameter("find", name) for name in names]
    text = render([*changes, change_parameter("get", "a")], "text")
    assert f"tool/removed: find (a, b, c, d{fields}), get (a)\n" in text


@pytest.mark.parametrize(
    ("paths", "text"),
    [
        ([("f", "summary"), ("g", "summary")], "f, g: `summary` is other"),
        ([("f", "annotations", "title"), ("g", "summary")], "f (title), g (summary)"),
        ([("f",), ("f", "name"), ("g", "name")], "f, g"),
    ],
)
def test_report_has_safe_changes_fields_only_if_they_differ(
    paths: list[tuple[str, ...]], text: str
) -> None:
    changes = [
        replace(change_parameter(tool, path[-1] if path else "tool"), path=tuple(path))
        for tool, *path in paths
    ]
    assert render(changes, "text").startswith(f"safe\n  tool/removed: {text}\n\n")


@pytest.mark.parametrize(("count", "more"), [(200, ""), (201, " and 1 more")])
def test_markdown_report_names_200_tools_with_the_same_change(
    count: int, more: str
) -> None:
    changes = [build_change(f"t{n}", "it is other", 1, 2) for n in range(count)]
    text = render(changes, "markdown")
    assert f"- 🔴 {count} tools: it is other<br>\n  `t0 " in text
    assert f"`t199 {changes[199].fingerprint}`{more}<br>\n" in text


@pytest.mark.parametrize(("length", "is_cut"), [(600, False), (601, True)])
def test_markdown_report_cuts_values_above_600_characters(
    length: int, is_cut: bool
) -> None:
    value = "x " * ((length - 2) // 2) + "x" * (length % 2)
    text = render([build_change("find", "it is new", ABSENT, value)], "markdown")
    (line,) = (line for line in text.splitlines() if line.startswith("  + "))
    assert line == (
        f'  + "{value[:296]} ... {value[-296:]}"' if is_cut else f'  + "{value}"'
    )


@pytest.mark.parametrize(("count", "is_cut"), [(40, False), (41, True)])
def test_report_with_texts_has_40_lines_and_1500_characters_per_text(
    count: int, is_cut: bool
) -> None:
    texts = {f"t{number}": f"Text {number}." for number in range(count)}
    change = build_change("find", "it is new", ABSENT, texts)
    (item,) = build_change_items(judge_comparison([change]).changes, shows_texts=True)
    assert item.texts[:40] == tuple(f"t{n}: Text {n}." for n in range(40))
    assert item.texts[40:] == (("(1 more texts are not shown)",) if is_cut else ())

    text = "Long text. " * 200
    value = text[: 1_500 + is_cut]
    change = build_change("find", "it is new", ABSENT, value)
    (item,) = build_change_items(judge_comparison([change]).changes, shows_texts=True)
    assert item.texts == (
        (f"{value[:747]} ... {value[-747:]}",) if is_cut else (value,)
    )


def test_report_with_texts_lists_prose_that_the_message_does_not_contain() -> None:
    after = {
        "description": "Word",
        "name": "word",
        "items": ["Two words", {"title": "T"}, "数字"],
        "note": "It is new",
    }
    change = build_change("find", "`It is new`", ABSENT, after)
    change = replace(change, definitions={"#/$defs/x": {"description": "D"}})
    (item,) = build_change_items(judge_comparison([change]).changes, shows_texts=True)
    assert item.texts == (
        "description: Word",
        "$defs.x.description: D",
        "items[0]: Two words",
        "items[2]: 数字",
        "items[1].title: T",
    )


@pytest.mark.parametrize("count", [20, 21])
def test_markdown_report_lists_20_acceptance_findings(count: int) -> None:
    findings = [
        Finding("accept/unused", Severity.WARNING, Location("a", n), f"m{n}", "help")
        for n in range(1, count + 1)
    ]
    verdict = replace(judge_comparison([]), findings=findings)
    text = report_changes(verdict, "markdown", CONTEXT)
    assert text.endswith("- m20 (`a`, line 20): help\n")
    assert "- m1 (`a`, line 1): help\n" in text


@pytest.mark.parametrize(
    ("line", "column", "end_column", "shown", "carets"),
    [
        ("name: find", 7, 11, "name: find", "      ^^^^"),
        ("name: find", 7, 0, "name: find", "      ^"),
        ("名: find", 1, 2, "名: find", "^^"),
        ("x" * 100, 80, 81, "x" * 100, " " * 79 + "^"),
        ("x" * 41 + "y" * 60, 42, 101, "x" * 40 + "y" * 60, " " * 40 + "^" * 59),
        ("x" * 41 + "y" * 60, 42, 102, "x" * 40 + "y" * 60, " " * 40 + "^" * 60),
        ("x" * 60 + "y" * 90, 61, 151, "x" * 40 + "y" * 60, " " * 40 + "^" * 60),
        ("x" * 101, 3, 4, "x" * 100, "  ^"),
    ],
)
def test_text_report_marks_the_location_in_at_most_100_characters_of_its_line(
    line: str, column: int, end_column: int, shown: str, carets: str
) -> None:
    location = Location("specs/toy/find.yaml", 12, column, end_column)
    finding = Finding("a/b", Severity.NOTE, location, "it is", "", line)
    rows = report_findings([finding], "text", CONTEXT).splitlines()
    assert rows[1:3] == [f"  12 | {shown}", f"     | {carets}"]


@pytest.mark.parametrize(
    ("location", "line"),
    [(Location("a.yaml"), "name: find"), (Location("a.yaml", 3, 1, 2), " ")],
)
def test_text_report_has_no_source_line_without_a_line_number_or_text(
    location: Location, line: str
) -> None:
    finding = Finding("a/b", Severity.NOTE, location, "it is", "", line)
    text = report_findings([finding], "text", CONTEXT)
    assert text == f"{location}: note: a/b: it is\n{' ' * 60}  toolcast explain a/b\n"


def test_values_above_48_characters_are_shortened_to_their_difference() -> None:
    for length in (48, 49):
        old, new = (f"{'a' * 30}{middle}{'b' * (length - 33)}" for middle in "xy")
        texts = format_differing_values((old, new), 100)
        end = "b" * (length - 33)
        assert texts == (
            (f'"{old}"', f'"{new}"')
            if length == 48
            else (f'... {"a" * 24}x{end}"', f'... {"a" * 24}y{end}"')
        )
    assert format_differing_values((ABSENT, "a" * 60), 100) == ("", f'"{"a" * 60}"')
    assert format_differing_values((), 100) == ("", "")


@pytest.mark.parametrize(
    ("tools", "old", "new", "first_line", "continued_line"),
    [
        ("fg", 1, 2, "  2 tools: word word", "    word word word "),
        ("f", "word " * 20, ABSENT, '    was "word word', "      word word word "),
        ("f", ABSENT, "word " * 20, '    "word word', "      word word word "),
        ("f", "word " * 20, "more " * 20, '    "word word', "      word word word "),
    ],
)
def test_text_report_indents_continued_message_and_value_lines(
    tools: str, old: Any, new: Any, first_line: str, continued_line: str
) -> None:
    message = "it is other" if old != 1 else "word " * 20
    text = render([build_change(tool, message, old, new) for tool in tools], "text")
    assert f"\n{first_line}" in text and f"\n{continued_line}" in text


def test_text_report_breaks_lines_only_at_spaces_also_in_effects() -> None:
    change = build_change("f", f"it is {'long-' * 30}", 1, 2)
    message = "word " * 20
    effect = Effect(EffectKind.VISIBILITY, "x", "toy", "f", message, is_worse=True)
    verdict = judge_comparison([change], [effect])
    text = report_changes(verdict, "text", CONTEXT)
    assert "long-" * 30 in text
    assert "\n  ! toy/f: word word" in text and "\n      word word" in text
