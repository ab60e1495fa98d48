"""Changes of selection cases in `toolcast diff`: messages that tools gain and lose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.project_files import write_toolset
from toolcast.diff.change import Change, Grade
from toolcast.diff.comparison import compare, load_change_rules
from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace

Compare = Callable[..., list[Change]]
TOOL = "summary: {}\nparameters: {{type: object}}\n"
DELETE = TOOL.format("Deletes a page of the wiki for good.")
ARCHIVE = TOOL.format("Archives a page of the wiki.")
CASES = """\
cases:
  - message: archive the page
  - message: put the old page into the archive
  - message: archive what nobody reads
  - message: is there an archive of the wiki?
"""


def make_workspace(folder: Path, toolset: str = "", **tools: str) -> Workspace:
    """Write a project to a folder, and load it."""
    specs = {name: f"name: {name}\n{spec}" for name, spec in tools.items()}
    head = "name: toy\ntitle: Toy\ntargets: {registry: {}}\n"
    write_toolset(folder, "toy", {"toolset": head + toolset, **specs})
    loaded = load_workspace(str(folder))
    assert loaded.workspace is not None, loaded.findings
    return loaded.workspace


@pytest.fixture
def compare_selection(tmp_path: Path) -> Compare:
    def compare_versions(
        before: Mapping[str, str],
        after: Mapping[str, str],
        toolset: tuple[str, str] = ("", ""),
    ) -> list[Change]:
        old, new = (
            make_workspace(tmp_path / name, toolset=text, **tools)
            for name, text, tools in (
                ("before", toolset[0], before),
                ("after", toolset[1], after),
            )
        )
        all_changes = compare(old, new).changes
        return [c for c in all_changes if "selection" in c.rule.id]

    return compare_versions


def list_messages(compare_selection: list[Change]) -> list[tuple[str, str, str]]:
    """Return the rule id, the grade for prompts and the message of each change."""
    return [(c.rule.id, c.grades.prompt.label, c.message) for c in compare_selection]


def test_diff_reports_selection_cases_that_a_tool_loses_to_a_similar_description(
    compare_selection: Compare,
) -> None:
    """A selection case is a user's message with the tool that a router must select."""
    greedy = TOOL.format(
        "Deletes or archives a page; archive, archive, the old archive."
    )
    found = compare_selection(
        {"delete_page": DELETE, "archive_page": ARCHIVE + CASES},
        {"delete_page": greedy, "archive_page": TOOL.format("Moves it.") + CASES},
    )
    lost = [change for change in found if change.rule.id == "selection/case-lost"]
    assert [(c.tool, c.grades.prompt) for c in lost] == [
        ("archive_page", Grade.BREAKING)
    ]
    assert lost[0].message.startswith("`archive_page` loses ")
    assert " of its 4 cases to `delete_page`: " in lost[0].message
    assert lost[0].reason == "these are at least half of its cases"
    assert lost[0].location.file == "specs/toy/archive_page.yaml"


def test_diff_reports_selection_cases_that_a_tool_wins_by_a_better_description(
    compare_selection: Compare,
) -> None:
    case = "cases: [{message: shelve it for good}]\n"
    shelve = TOOL.format("Shelve, shelve a page.")
    found = compare_selection(
        {"delete_page": DELETE, "archive_page": ARCHIVE + case},
        {"delete_page": DELETE, "archive_page": shelve + case},
    )
    assert list_messages(found) == [
        (
            "selection/case-won",
            "safe",
            "`archive_page` wins 1 of its 1 case from `delete_page`: "
            '"shelve it for good" (not found -> 1)',
        )
    ]


def test_diff_grades_a_tool_losing_under_half_its_selection_cases_as_risky(
    compare_selection: Compare,
) -> None:
    other = TOOL.format("Tells what nobody reads.")
    found = compare_selection(
        {"report": TOOL.format("Tells."), "archive_page": ARCHIVE + CASES},
        {"report": other, "archive_page": ARCHIVE + CASES},
    )
    [(rule, grade, message)] = list_messages(found)
    assert (rule, grade) == ("selection/case-lost", "risky")
    assert message == (
        '`archive_page` loses 1 of its 4 cases to `report`: "archive what nobody reads"'
        " (1 -> 2)"
    )


def test_diff_reports_a_lower_rank_within_the_limit_not_as_lost_selection_case(
    compare_selection: Compare,
) -> None:
    gate = "selection: {top: 2}\n"
    other = TOOL.format("Tells what nobody reads.")
    found = compare_selection(
        {"report": TOOL.format("Tells."), "archive_page": ARCHIVE + CASES},
        {"report": other, "archive_page": ARCHIVE + CASES},
        (gate, gate),
    )
    [(rule, grade, message)] = list_messages(found)
    assert (rule, grade) == ("selection/rank-lower", "risky")
    assert message.startswith("`archive_page` ranks lower for 1 of its 4 cases: ")


def test_diff_reports_messages_for_no_tool_that_now_select_a_tool(
    compare_selection: Compare,
) -> None:
    near = "cases: [{message: archive the page, near: [the old shelf]}]\n"
    none = "cases: [{message: what is on the shelf?, tool: null}]\n"
    shelf = TOOL.format("Archives a page on the shelf.")
    found = compare_selection(
        {"delete_page": DELETE, "archive_page": ARCHIVE + near},
        {"delete_page": DELETE, "archive_page": shelf + near},
        (none, none),
    )
    assert {(c.rule.id, c.tool, c.message.partition(":")[0]) for c in found} == {
        (
            "selection/case-lost",
            "",
            "1 message that must select no tool now selects `archive_page`",
        ),
        (
            "selection/case-lost",
            "archive_page",
            "1 near miss of `archive_page` now selects it",
        ),
    }


def test_diff_compares_a_renamed_tools_selection_cases_by_its_new_name(
    compare_selection: Compare,
) -> None:
    keep = TOOL.format("Keeps what is old.") + "cases: [{message: to the archive}]\n"
    found = compare_selection(
        {"delete_page": DELETE, "archive_page": keep},
        {"delete_page": DELETE, "keep": keep + "renamed_from: [archive_page]\n"},
    )
    assert list_messages(found) == [
        (
            "selection/case-lost",
            "breaking",
            '`keep` loses 1 of its 1 case: "to the archive" (1 -> not found)',
        )
    ]


def test_diff_reports_no_changed_selection_cases_for_a_renamed_tool(
    compare_selection: Compare,
) -> None:
    spec = ARCHIVE + CASES
    found = compare_selection({"archive_page": spec}, {"store_page": spec})
    assert [c for c in found if c.rule.id == "selection/case-changed"] == []


@pytest.mark.parametrize("is_added", [True, False])
def test_diff_does_not_report_selection_cases_for_added_and_removed_tools(
    is_added: bool, compare_selection: Compare
) -> None:
    without_archive = {"delete_page": DELETE}
    with_archive = {"archive_page": ARCHIVE + CASES, **without_archive}
    assert (
        compare_selection(
            *(
                (without_archive, with_archive)
                if is_added
                else (with_archive, without_archive)
            )
        )
        == []
    )


def test_diff_reports_added_and_changed_selection_cases_as_safe(
    compare_selection: Compare,
) -> None:
    archive_case, shelve_case = (
        "cases: [{message: archive it}]\n",
        "cases: [{message: shelve it}]\n",
    )
    changed_case = "cases: [{message: Archive it!, top: 2}]\n"
    both = {"archive_page": ARCHIVE + archive_case, "delete_page": DELETE}
    found = compare_selection(
        both,
        {"archive_page": ARCHIVE + changed_case, "delete_page": DELETE + shelve_case},
        ("", "selection: {top: 3}\n"),
    )
    assert list_messages(found) == [
        (
            "toolset.selection.top/changed",
            "safe",
            "the rank that expected tools must reach is `3` instead of `1`",
        ),
        ("selection/case-changed", "safe", '"Archive it!" has other requirements'),
        ("selection/case-added", "safe", '"shelve it" is new'),
    ]


def test_diff_builds_no_ranking_for_a_project_without_selection_cases(
    compare_selection: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:

    def fail(*_: object) -> None:
        raise AssertionError("a ranking was made")

    monkeypatch.setattr(
        "toolcast_runtime.router.lexical_ranking.LexicalRanking.__init__", fail
    )
    assert compare_selection({"a": DELETE}, {"a": ARCHIVE}) == []
    monkeypatch.undo()


def test_diff_selection_case_rules_have_opposite_rules() -> None:
    known = [
        rule
        for id_, rule in load_change_rules(()).items()
        if id_.startswith("selection/")
    ]
    ids = {rule.id for rule in known}
    opposites = {rule.opposite for rule in known}
    assert opposites == ids
