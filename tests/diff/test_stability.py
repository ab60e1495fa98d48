"""Effects of stability and announced removal dates on the grades of `toolcast diff`."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.conftest import Project
from toolcast.diff.change import Change
from toolcast.diff.comparison import compare
from toolcast.model.loading import load_workspace

NOTE = "summary: Stores.\nparameters: {type: object, properties: {a: {type: string}}}\n"
TARGETS = "targets: {mcp: {}, registry: {}}\n"
DAY = datetime.date(2026, 6, 1)
Compare = Callable[..., list[Change]]


@pytest.fixture
def compare_versions(make_project: Callable[..., Project]) -> Compare:
    """Return a function that lists the changes between two versions of a toolset."""
    numbers = count()

    def compare_tools(before: Any, after: Any, *toolsets: str) -> list[Change]:
        versions = []
        for tools, toolset in zip((before, after), toolsets or ("", ""), strict=True):
            at = str(next(numbers))
            project = make_project(tools, toolset=TARGETS + toolset, at=at)
            loaded = load_workspace(str(project.root))
            assert loaded.workspace is not None and not loaded.findings
            versions.append(loaded.workspace)
        return compare(versions[0], versions[1], DAY).changes

    return compare_tools


def get_grades(changes: list[Change]) -> dict[str, str]:
    """Return the rule ids with their four grades."""
    return {
        change.rule.id: " ".join(grade.label for grade in change.grades)
        for change in changes
    }


def get_removal_grades(
    compare_versions: Compare, spec: str, *toolsets: str
) -> dict[str, str]:
    """Return the grades of the removal of a tool with extra spec lines."""
    remaining_tools = {"kept": NOTE}
    return get_grades(
        compare_versions(
            {**remaining_tools, "note": NOTE + spec}, remaining_tools, *toolsets
        )
    )


@pytest.mark.parametrize(
    ("spec", "grades"),
    [
        ("", "breaking breaking breaking breaking"),
        ("stability: stable\n", "breaking breaking breaking breaking"),
        ("stability: beta\n", "risky risky risky risky"),
        ("stability: draft\n", "safe safe safe risky"),
    ],
)
def test_removed_tool_diff_grades_depend_on_tool_stability(
    compare_versions: Compare, spec: str, grades: str
) -> None:
    """Stability is draft, beta or stable."""
    assert get_removal_grades(compare_versions, spec) == {"tool/removed": grades}


def test_diff_grades_tools_without_stability_by_the_toolsets_stability(
    compare_versions: Compare,
) -> None:
    drafts = "stability: draft\n", "stability: draft\n"
    assert get_removal_grades(compare_versions, "", *drafts) == {
        "tool/removed": "safe safe safe risky"
    }
    all_breaking = "breaking breaking breaking breaking"
    assert get_removal_grades(compare_versions, "stability: stable\n", *drafts) == {
        "tool/removed": all_breaking
    }


def test_diff_grades_a_renamed_tool_by_its_old_stability(
    compare_versions: Compare,
) -> None:
    changes = compare_versions(
        {"old_note": NOTE + "stability: stable\n"},
        {"note": NOTE + "stability: draft\n"},
    )
    assert get_grades(changes) == {
        "tool/renamed-without-previous-name": "breaking breaking breaking breaking",
        "tool.stability/lowered": "risky safe risky safe",
    }
    back = compare_versions(
        {"note": NOTE + "stability: draft\n"},
        {"old_note": NOTE + "stability: stable\n"},
    )
    assert get_grades(back) == {
        "tool/renamed-without-previous-name": "safe safe safe risky",
        "tool.stability/raised": "safe safe safe safe",
    }
    reasons = {change.rule.id: change.reason for change in back}
    assert reasons["tool/renamed-without-previous-name"] == "the tool was a draft"


def test_diff_grades_a_lowered_toolset_stability_as_risky_for_calls_and_code(
    compare_versions: Compare,
) -> None:
    tools = {"note": NOTE}
    changes = compare_versions(tools, tools, "stability: beta\n", "stability: draft\n")
    assert get_grades(changes) == {"toolset.stability/lowered": "risky safe risky safe"}
    assert changes[0].message == "the toolset is `draft`, was `beta`"


def test_diff_grades_a_toolset_change_by_its_most_stable_tool(
    compare_versions: Compare,
) -> None:
    beta, clients = "stability: beta\n", "clients: {%s: {allow: '*', deny: []}}\n"
    toolsets = [
        f"stability: draft\n{clients.replace('%s', name)}" for name in ("a", "b")
    ]
    targets = [toolset + "exclusions: []\n" for toolset in toolsets]

    def get_worst_call_grade(spec: str) -> int:
        tools = {"note": NOTE + spec, "other": NOTE}
        changes = compare_versions(tools, tools, *targets)
        assert changes
        return max(change.grades.call for change in changes if not change.tool)

    assert get_worst_call_grade("stability: stable\n") == 2
    assert get_worst_call_grade(beta) == 1
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
def test_diff_grades_a_removal_not_before_its_announced_date_as_not_breaking(
    compare_versions: Compare, day: str, rule: str
) -> None:
    removal = f', removal: "{day}"' if day else ""
    grades = get_removal_grades(
        compare_versions, f'deprecated: {{since: "2025-01-01"{removal}}}\n'
    )
    breaking = "breaking breaking breaking breaking"
    announced = "risky safe risky risky"
    assert grades == {rule: announced if rule.endswith("announced") else breaking}
