"""`toolcast diff --bump`: the version that changes require."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from toolcast.diff.change import Change, ChangeRule, Grade, Grades
from toolcast.diff.comparison import Comparison, load_change_rules
from toolcast.diff.review.verdict import judge, propose_versions
from toolcast.findings import Location
from toolcast.model.model import Toolset, Workspace
from toolcast.parsing.tree import Source
from toolcast.reports.formats import report_versions

SAFE, RISKY, BREAKING = Grade


def side(version: str | None) -> Workspace:
    tree = {"name": "toy"} | ({} if version is None else {"version": version})
    toolset = Toolset(
        "toy", "Toy", "specs/toy", source=Source("specs/toy/toolset.yaml", tree=tree)
    )
    return Workspace("", ("specs/toy",), (), toolsets=(toolset,))


def change(rule: str, grades: Grades) -> Change:
    kind = ChangeRule(rule, "It means something.", grades, rule)
    place = Location("specs/toy/a.yaml", 1, 1, 2)
    return Change(kind, "toy", "a", ("x",), 1, 2, "`x` is 2", grades, place)


@pytest.mark.parametrize(
    ("before", "rule", "grades", "proposed"),
    [
        ("1.4.2", "tool/removed", Grades(BREAKING, SAFE, SAFE, SAFE), "2.0.0"),
        ("1.4.2", "x/y", Grades(SAFE, SAFE, BREAKING, SAFE), "2.0.0"),
        ("1.4.2", "x/y", Grades(SAFE, SAFE, SAFE, BREAKING), "2.0.0"),
        ("1.4.2", "x/y", Grades(SAFE, BREAKING, SAFE, SAFE), "1.5.0"),
        ("1.4.2", "x/y", Grades(RISKY, SAFE, SAFE, SAFE), "1.5.0"),
        ("1.4.2", "tool/added", Grades(), "1.5.0"),
        ("1.4.2", "parameters/property-added", Grades(), "1.5.0"),
        ("1.4.2", "x/y", Grades(), "1.4.3"),
        ("0.4.2", "x/y", Grades(call=BREAKING), "0.5.0"),
        ("0.4.2", "x/y", Grades(call=RISKY), "0.4.3"),
        ("0.4.2", "x/y", Grades(), "0.4.3"),
        ("1.4.2+build", "x/y", Grades(), "1.4.3"),
        ("1.4.2-rc.1", "x/y", Grades(), ""),
        ("v1", "x/y", Grades(), ""),
        ("1.4", "x/y", Grades(), ""),
        ("1.4.2+<b>", "x/y", Grades(), ""),
        ("1.4.\u0662", "x/y", Grades(), ""),
        ("1.4." + "9" * 5_000, "x/y", Grades(), ""),
        (None, "x/y", Grades(), "0.1.0"),
    ],
)
def test_a_change_asks_for_a_version(
    before: str | None, rule: str, grades: Grades, proposed: str
) -> None:
    [one] = propose_versions([change(rule, grades)], side(before), side(before))
    assert one.version == proposed
    assert one.reason


@pytest.mark.parametrize(
    ("now", "is_enough"),
    [
        ("1.4.2", False),
        ("1.5.0", False),
        ("2.0.0", True),
        ("2.1.0", True),
        ("x", False),
    ],
)
def test_a_version_that_was_raised_may_be_enough(now: str, is_enough: bool) -> None:
    breaking = change("x/y", Grades(call=BREAKING))
    [one] = propose_versions([breaking], side("1.4.2"), side(now))
    assert one.is_enough is is_enough


def test_the_worst_change_decides() -> None:
    changes = [change("x/y", Grades(call=grade)) for grade in (SAFE, BREAKING, RISKY)]
    [one] = propose_versions(changes, side("1.0.0"), side("1.0.0"))
    assert (one.step, one.version) == ("major", "2.0.0")


def test_a_tool_that_moves_is_missing_in_its_old_toolset() -> None:
    breaking = change("tool/moved", Grades(call=BREAKING))
    moved = replace(breaking, toolset="other", before="toy", after="other")
    [one] = propose_versions([moved], side("1.0.0"), side("1.0.0"))
    assert (one.toolset, one.version) == ("toy", "2.0.0")


def test_a_toolset_is_known_by_its_former_name() -> None:
    breaking = change("toolset/renamed", Grades(code=BREAKING))
    renamed = replace(breaking, tool="", before="old", after="toy")
    old = side("1.0.0")
    former = replace(old.toolsets[0], name="old")
    [one] = propose_versions([renamed], replace(old, toolsets=(former,)), side("1.0.0"))
    assert (one.before, one.version) == ("1.0.0", "2.0.0")


def test_a_toolset_without_changes_has_no_proposal() -> None:
    assert list(propose_versions([], side("1.0.0"), side("1.0.0"))) == []


@pytest.mark.parametrize("before", ["1.4.2", "", "0.9.0-<b>x</b>\n\n# x"])
def test_a_version_that_is_no_version_writes_no_markdown(before: str) -> None:
    now = "9 <script>x()</script>\n\n# Title"
    breaking = change("x/y", Grades(call=BREAKING))
    text = report_versions(
        judge(
            Comparison([breaking], []), (side(before), side(now)), "main",
            limits={}, acceptances=(), known=(), today=datetime.date(2030, 1, 1),
        )
    )  # fmt: skip
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
    tags = set(re.findall(r"<(\w+)", html))
    assert tags == {"h2", "p", "h3", "ul", "li", "code"}
    assert html.count("<h2") == 1


@pytest.mark.parametrize(
    ("rule", "part"),
    [
        ("tool/added", "Added"),
        ("tool/added-past-removal", "Added"),
        ("toolset/added", "Added"),
        ("tool/removed", "Removed"),
        ("tool/removed-as-announced", "Removed"),
        ("toolset/removed", "Removed"),
        ("tool.deprecated/set", "Deprecated"),
        ("tool.deprecated/unset", "Changed"),
    ],
)
def test_a_change_stands_in_its_part_of_the_entry(rule: str, part: str) -> None:
    one = change(rule, load_change_rules(())[rule].grades._replace(prompt=RISKY))
    text = report_versions(
        judge(
            Comparison([one], []), (side("1.0.0"), side("1.0.0")), "main",
            limits={}, acceptances=(), known=(), today=datetime.date(2030, 1, 1),
        )
    )  # fmt: skip
    assert f"### {part}\n\n- `a`: `x` is 2" in text


def test_the_entry_of_a_case_reads_as_a_changelog() -> None:
    case = Path(__file__).parent / "cases" / "shop" / "expected" / "changelog.md"
    text = case.read_text("utf-8")
    assert text.startswith("## shop 2.0.0\n\n1.4.0 -> 2.0.0 (major): ")
    assert "`version` in toolset.yaml is 1.5.0, too low" in text
    heads = [line for line in text.split("\n") if line.startswith("### ")]
    assert heads == ["### Removed", "### Changed", "### Added"]
