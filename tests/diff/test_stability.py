"""Effects of stability and announced removal dates on the grades of `toolcast diff`."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.conftest import Project
from tests.diff.single_changes import get_rule_and_grades
from toolcast.diff.change import Change
from toolcast.diff.comparison import compare
from toolcast.model.loading import load_workspace

NOTE = "summary: Stores.\nparameters: {type: object, properties: {a: {type: string}}}\n"
TARGETS = "targets: {mcp: {}, registry: {}}\n"
DAY = datetime.date(2026, 6, 1)
Diff = Callable[..., list[Change]]


@pytest.fixture
def diff(make_project: Callable[..., Project]) -> Diff:
    """Return a function that lists the changes between two versions of a toolset."""
    numbers = count()

    def compare_tools(before: Any, after: Any, *toolsets: str) -> list[Change]:
        versions = []
        for tools, toolset in zip((before, after), toolsets or ("", ""), strict=True):
            toolset = TARGETS + toolset
            project = make_project(tools, toolset=toolset, at=f"{next(numbers)}")
            loaded = load_workspace(str(project.root))
            assert loaded.workspace is not None and not loaded.findings
            versions.append(loaded.workspace)
        return compare(versions[0], versions[1], DAY).changes

    return compare_tools


def get_grades(changes: list[Change]) -> dict[str, str]:
    """Return the rule ids with their four grades."""
    return dict(map(get_rule_and_grades, changes))


def get_removal_grades(diff: Diff, spec: str, *toolsets: str) -> dict[str, str]:
    """Return the grades of the removal of a tool with extra spec lines."""
    tools = {"kept": NOTE, "note": NOTE + spec}
    return get_grades(diff(tools, {"kept": NOTE}, *toolsets))


ALL_BREAKING = "breaking breaking breaking breaking"


@pytest.mark.parametrize(
    ("spec", "toolset", "grades"),
    [
        ("", "", ALL_BREAKING),
        ("stability: stable\n", "", ALL_BREAKING),
        ("stability: beta\n", "", "risky risky risky risky"),
        ("stability: draft\n", "", "safe safe safe risky"),
        ("", "stability: draft\n", "safe safe safe risky"),
        ("stability: stable\n", "stability: draft\n", ALL_BREAKING),
    ],
)
def test_removed_tool_grades_depend_on_the_tools_or_else_the_toolsets_stability(
    diff: Diff, spec: str, toolset: str, grades: str
) -> None:
    found = get_removal_grades(diff, spec, toolset, toolset)
    assert found == {"tool/removed": grades}


def test_diff_grades_a_renamed_tool_by_its_old_stability(diff: Diff) -> None:
    stable = {"old_note": NOTE + "stability: stable\n"}
    draft = {"note": NOTE + "stability: draft\n"}
    assert get_grades(diff(stable, draft)) == {
        "tool/renamed-without-previous-name": ALL_BREAKING,
        "tool.stability/lowered": "risky safe risky safe",
    }
    back = diff(draft, stable)
    assert get_grades(back) == {
        "tool/renamed-without-previous-name": "safe safe safe risky",
        "tool.stability/raised": "safe safe safe safe",
    }
    reasons = {change.rule.id: change.reason for change in back}
    assert reasons["tool/renamed-without-previous-name"] == "the tool was a draft"


def test_lowered_toolset_stability_is_risky_for_calls_and_code(diff: Diff) -> None:
    tools = {"note": NOTE}
    changes = diff(tools, tools, "stability: beta\n", "stability: draft\n")
    assert get_grades(changes) == {"toolset.stability/lowered": "risky safe risky safe"}
    assert changes[0].message == "the toolset is `draft`, was `beta`"


def test_diff_grades_a_toolset_change_by_its_most_stable_tool(diff: Diff) -> None:
    toolsets = [
        f"stability: draft\nclients: {{{name}: {{allow: '*', deny: []}}}}\nexclusions: []\n"
        for name in "ab"
    ]

    def get_worst_call_grade(spec: str) -> int:
        tools = {"note": NOTE + spec, "other": NOTE}
        changes = diff(tools, tools, *toolsets)
        assert changes
        return max(change.grades.call for change in changes if not change.tool)

    assert get_worst_call_grade("stability: stable\n") == 2
    assert get_worst_call_grade("stability: beta\n") == 1
    assert get_worst_call_grade("") == 0


@pytest.mark.parametrize(
    ("day", "rule"),
    [
        ("2026-06-01", "tool/removed-as-announced"),
        ("2026-05-31", "tool/removed-as-announced"),
        ("2026-06-02", "tool/removed"),
        ("1.2.0", "tool/removed"),
        ("", "tool/removed"),
    ],
)
def test_tool_removed_on_or_after_its_removal_date_is_risky_and_not_breaking(
    diff: Diff, day: str, rule: str
) -> None:
    """`deprecated.removal` is the date; a version there announces none."""
    removal = f', removal: "{day}"' if day else ""
    grades = get_removal_grades(diff, f'deprecated: {{since: "2025-01-01"{removal}}}\n')
    announced = "risky safe risky risky"
    assert grades == {rule: announced if rule.endswith("announced") else ALL_BREAKING}
