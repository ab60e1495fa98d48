"""Stability and announced removal dates change the grades of changes."""

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
Sides = Callable[..., list[Change]]


@pytest.fixture
def changes(make_project: Callable[..., Project]) -> Sides:
    """Return the changes between two versions, each with its tools and its toolset."""

    numbers = count()

    def between(before: Any, after: Any, *toolsets: str) -> list[Change]:
        sides = []
        for tools, more in zip((before, after), toolsets or ("", ""), strict=True):
            at = str(next(numbers))
            project = make_project(tools, toolset=TARGETS + more, at=at)
            loaded = load_workspace(str(project.root))
            assert loaded.workspace is not None and not loaded.findings
            sides.append(loaded.workspace)
        return compare(sides[0], sides[1], DAY).changes

    return between


def graded(found: list[Change]) -> dict[str, str]:
    """Return the rule ids with their four grades."""
    return {
        change.rule.id: " ".join(grade.label for grade in change.grades)
        for change in found
    }


def removal(changes: Sides, spec: str, *toolsets: str) -> dict[str, str]:
    keep = {"kept": NOTE}
    return graded(changes({**keep, "note": NOTE + spec}, keep, *toolsets))


@pytest.mark.parametrize(
    ("spec", "grades"),
    [
        ("", "breaking breaking breaking breaking"),
        ("stability: stable\n", "breaking breaking breaking breaking"),
        ("stability: beta\n", "risky risky risky risky"),
        ("stability: draft\n", "safe safe safe risky"),
    ],
)
def test_a_removal_by_what_was_promised(changes: Sides, spec: str, grades: str) -> None:
    assert removal(changes, spec) == {"tool/removed": grades}


def test_the_toolsets_word_counts_where_a_tool_says_nothing(changes: Sides) -> None:
    drafts = "stability: draft\n", "stability: draft\n"
    assert removal(changes, "", *drafts) == {"tool/removed": "safe safe safe risky"}
    whole = "breaking breaking breaking breaking"
    assert removal(changes, "stability: stable\n", *drafts) == {"tool/removed": whole}


def test_a_promise_is_not_taken_back_by_breaking_it(changes: Sides) -> None:
    """The old version's stability counts."""
    found = changes(
        {"old_note": NOTE + "stability: stable\n"},
        {"note": NOTE + "stability: draft\n"},
    )
    assert graded(found) == {
        "tool/renamed-without-previous-name": "breaking breaking breaking breaking",
        "tool.stability/lowered": "risky safe risky safe",
    }
    back = changes(
        {"note": NOTE + "stability: draft\n"},
        {"old_note": NOTE + "stability: stable\n"},
    )
    assert graded(back) == {
        "tool/renamed-without-previous-name": "safe safe safe risky",
        "tool.stability/raised": "safe safe safe safe",
    }
    reasons = {change.rule.id: change.reason for change in back}
    assert reasons["tool/renamed-without-previous-name"] == "the tool was a draft"


def test_a_toolset_that_promises_less(changes: Sides) -> None:
    tools = {"note": NOTE}
    found = changes(tools, tools, "stability: beta\n", "stability: draft\n")
    assert graded(found) == {"toolset.stability/lowered": "risky safe risky safe"}
    assert found[0].message == "the toolset is `draft`, was `beta`"


def test_a_change_of_the_toolset_is_relaxed_as_its_firmest_tool_is(
    changes: Sides,
) -> None:
    beta, clients = "stability: beta\n", "clients: {%s: {allow: '*', deny: []}}\n"
    sides = [f"stability: draft\n{clients.replace('%s', name)}" for name in ("a", "b")]
    targets = [side + "exclusions: []\n" for side in sides]

    def worst(spec: str) -> int:
        tools = {"note": NOTE + spec, "other": NOTE}
        found = changes(tools, tools, *targets)
        assert found
        return max(change.grades.call for change in found if not change.tool)

    assert worst("stability: stable\n") == 2
    assert worst(beta) == 1
    assert worst("") == 0


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
def test_a_removal_on_its_announced_day_is_quiet(
    changes: Sides, day: str, rule: str
) -> None:
    removed = f', removal: "{day}"' if day else ""
    found = removal(changes, f'deprecated: {{since: "2025-01-01"{removed}}}\n')
    whole = "breaking breaking breaking breaking"
    quiet = "risky safe risky risky"
    assert found == {rule: quiet if rule.endswith("announced") else whole}
