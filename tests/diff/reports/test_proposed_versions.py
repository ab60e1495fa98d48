"""`toolcast diff --bump`: the version that changes require."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace

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


def workspace(version: str | None) -> Workspace:
    tree = {"name": "toy"} | ({} if version is None else {"version": version})
    source = Source("specs/toy/toolset.yaml", tree=tree)
    toolset = Toolset("toy", "Toy", "specs/toy", source=source)
    return Workspace("", ("specs/toy",), (), toolsets=(toolset,))


def report_bump(change: Change, before: str, after: str) -> str:
    """Return the output of `toolcast diff --bump` for a change."""
    return report_versions(
        judge(
            Comparison([change], []), (workspace(before), workspace(after)), "main",
            limits={}, acceptances=(), known=(), today=datetime.date(2030, 1, 1),
        )
    )  # fmt: skip


def make_change(rule: str, grades: Grades) -> Change:
    change_rule = ChangeRule(rule, "It means something.", grades, rule)
    location = Location("specs/toy/a.yaml", 1, 1, 2)
    return Change(change_rule, "toy", "a", ("x",), 1, 2, "`x` is 2", grades, location)


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
def test_bump_proposes_the_version_that_a_changes_grades_require(
    before: str | None, rule: str, grades: Grades, proposed: str
) -> None:
    change, version = make_change(rule, grades), workspace(before)
    [found] = propose_versions([change], version, version)
    assert found.version == proposed
    assert found.reason


@pytest.mark.parametrize("now", ["1.4.2", "1.5.0", "x", "2.0.0", "2.1.0"])
def test_bump_accepts_the_next_major_version_for_a_breaking_change(now: str) -> None:

    breaking = make_change("x/y", Grades(call=BREAKING))
    [found] = propose_versions([breaking], workspace("1.4.2"), workspace(now))
    assert found.is_enough is now.startswith("2.")


def test_bump_version_step_is_determined_by_the_worst_change() -> None:
    grades = [Grades(call=grade) for grade in (SAFE, BREAKING, RISKY)]
    changes = [make_change("x/y", grade) for grade in grades]
    [found] = propose_versions(changes, workspace("1.0.0"), workspace("1.0.0"))
    assert (found.step, found.version) == ("major", "2.0.0")


def test_bump_proposes_a_version_for_the_toolset_that_loses_a_moved_tool() -> None:
    breaking = make_change("tool/moved", Grades(call=BREAKING))
    moved = replace(breaking, toolset="other", before="toy", after="other")
    [found] = propose_versions([moved], workspace("1.0.0"), workspace("1.0.0"))
    assert (found.toolset, found.version) == ("toy", "2.0.0")


def test_diff_bump_renamed_toolset_version_continues_the_old_version() -> None:
    breaking = make_change("toolset/renamed", Grades(code=BREAKING))
    renamed = replace(breaking, tool="", before="old", after="toy")
    old = workspace("1.0.0")
    old = replace(old, toolsets=(replace(old.toolsets[0], name="old"),))
    [found] = propose_versions([renamed], old, workspace("1.0.0"))
    assert (found.before, found.version) == ("1.0.0", "2.0.0")


def test_diff_bump_proposes_no_version_for_a_toolset_without_changes() -> None:
    assert list(propose_versions([], workspace("1.0.0"), workspace("1.0.0"))) == []


@pytest.mark.parametrize("before", ["1.4.2", "", "0.9.0-<b>x</b>\n\n# x"])
def test_diff_bump_escapes_invalid_versions_in_markdown(before: str) -> None:
    now = "9 <script>x()</script>\n\n# Title"
    breaking = make_change("x/y", Grades(call=BREAKING))
    text = report_bump(breaking, before, now)
    html = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
    tags = set(re.findall(r"<(\w+)", html))
    assert tags == {"h2", "p", "h3", "ul", "li", "code"}
    assert html.count("<h2") == 1


@pytest.mark.parametrize(
    ("rule", "section"),
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
def test_bump_changelog_lists_a_change_in_the_section_for_its_kind(
    rule: str, section: str
) -> None:
    """Sections are Added, Removed, Deprecated and Changed."""
    grades = load_change_rules(())[rule].grades._replace(prompt=RISKY)
    text = report_bump(make_change(rule, grades), "1.0.0", "1.0.0")
    assert f"### {section}\n\n- `a`: `x` is 2" in text
