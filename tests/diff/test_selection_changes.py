"""Changes of selection cases in `toolcast diff`: messages that tools gain and lose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

import pytest

from tests.project_files import write_toolset
from toolcast.diff.change import Change, Grade
from toolcast.diff.comparison import compare
from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace

Diff = Callable[..., list[Change]]
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
def diff(tmp_path: Path) -> Diff:
    """Return a function that lists the selection changes between two sets of tools."""
    folders = (tmp_path / str(number) for number in count())

    def compare_versions(
        before: Mapping[str, str],
        after: Mapping[str, str],
        toolset: tuple[str, str] = ("", ""),
    ) -> list[Change]:
        old = make_workspace(next(folders), toolset=toolset[0], **before)
        new = make_workspace(next(folders), toolset=toolset[1], **after)
        return [c for c in compare(old, new).changes if "selection" in c.rule.id]

    return compare_versions


def list_messages(changes: list[Change]) -> list[tuple[str, str, str]]:
    """Return the rule id, the grade for prompts and the message of each change."""
    return [(c.rule.id, c.grades.prompt.label, c.message) for c in changes]


def test_diff_reports_cases_lost_to_a_similar_description(diff: Diff) -> None:
    """A selection case is a user's message with the tool that a router must select."""
    greedy = TOOL.format("Deletes or archives pages; archive, archive, the archive.")
    found = diff(
        {"delete_page": DELETE, "archive_page": ARCHIVE + CASES},
        {"delete_page": greedy, "archive_page": TOOL.format("Moves it.") + CASES},
    )
    [lost] = [change for change in found if change.rule.id == "selection/case-lost"]
    assert (lost.tool, lost.grades.prompt) == ("archive_page", Grade.BREAKING)
    start = "`archive_page` loses 2 of its 4 cases to `delete_page`: "
    assert lost.message.startswith(start)
    assert lost.reason == "these are at least half of its cases"
    assert (set(lost.before.values()), set(lost.after.values())) == (
        {"passes"},
        {"fails"},
    )
    assert lost.location.file == "specs/toy/archive_page.yaml"


def test_diff_reports_cases_won_by_a_better_description(diff: Diff) -> None:
    case = "cases: [{message: shelve it for good}]\n"
    shelve = TOOL.format("Shelve, shelve a page.")
    found = diff(
        {"delete_page": DELETE, "archive_page": ARCHIVE + case},
        {"delete_page": DELETE, "archive_page": shelve + case},
    )
    message = "`archive_page` wins 1 of its 1 case from `delete_page`: "
    message += '"shelve it for good" (not found -> 1)'
    assert list_messages(found) == [("selection/case-won", "safe", message)]


@pytest.mark.parametrize(
    ("lengths", "quoted"),
    [
        # Up to 3 messages are quoted, each with up to 60 characters.
        ((60, 59, 58), [(60, ""), (59, ""), (58, "")]),
        ((61, 60, 59, 58), [(57, "..."), (60, ""), (59, "")]),
    ],
)
def test_diff_quotes_3_cases_with_60_characters_and_counts_the_others(
    lengths: tuple[int, ...], quoted: list[tuple[int, str]], diff: Diff
) -> None:
    texts = ["shelve it for good ".ljust(length, "x") for length in lengths]
    cases = "cases:\n" + "".join(f"  - message: {text}\n" for text in texts)
    shelve = TOOL.format("Shelve, shelve a page.")
    [(_, _, message)] = list_messages(
        diff(
            {"delete_page": DELETE, "archive_page": ARCHIVE + cases},
            {"delete_page": DELETE, "archive_page": shelve + cases},
        )
    )
    quotes = [
        f'"{text[:length]}{end}" (not found -> 1)'
        for text, (length, end) in zip(texts, quoted, strict=False)
    ]
    count = len(texts)
    assert message == (
        f"`archive_page` wins {count} of its {count} cases from `delete_page`: "
        f"{', '.join(quotes)}{' and 1 more' if count > 3 else ''}"
    )


def test_diff_grades_the_loss_of_under_half_of_the_cases_as_risky(diff: Diff) -> None:
    """A lower rank within the toolset's limit `top` is no loss."""
    archive = {"archive_page": ARCHIVE + CASES}
    versions = (
        {"report": TOOL.format("Tells."), **archive},
        {"report": TOOL.format("Tells what nobody reads."), **archive},
    )
    [(rule, grade, message)] = list_messages(diff(*versions))
    assert (rule, grade) == ("selection/case-lost", "risky")
    assert message == (
        '`archive_page` loses 1 of its 4 cases to `report`: "archive what nobody reads"'
        " (1 -> 2)"
    )
    limits = ("selection: {top: 2}\n", "selection: {top: 2}\n")
    [(rule, grade, message)] = list_messages(diff(*versions, limits))
    assert (rule, grade) == ("selection/rank-lower", "risky")
    assert message.startswith("`archive_page` ranks lower for 1 of its 4 cases: ")


def test_diff_reports_first_and_lost_ranks_for_a_case_that_still_fails(
    diff: Diff,
) -> None:
    case = "cases: [{message: shelve it for good}]\n"
    delete = {"delete_page": TOOL.format("Deletes, or shelve for good.")}
    before = {**delete, "archive_page": ARCHIVE + case}
    shelve = TOOL.format("Archives a page of the wiki, or shelve it.")
    after = {**delete, "archive_page": shelve + case}
    for versions, rule, ranks in (
        ((before, after), "rank-higher", "not found -> 2"),
        ((after, before), "rank-lower", "2 -> not found"),
    ):
        [(rule_id, _, message)] = list_messages(diff(*versions))
        assert rule_id == f"selection/{rule}"
        assert message.endswith(f'1 of its 1 case: "shelve it for good" ({ranks})')


def test_diff_compares_tools_that_a_case_excludes_by_their_old_names(
    diff: Diff,
) -> None:
    """Cases that fail in both versions change no outcome."""
    never = "cases: [{message: archive the page, top: 2, never: [remove, print]}]\n"
    remove = DELETE + "renamed_from: [delete_page]\n"
    found = diff(
        {"delete_page": DELETE, "archive_page": ARCHIVE},
        {
            "remove": remove,
            "print": TOOL.format("Prints."),
            "archive_page": ARCHIVE + never,
        },
    )
    assert [change.rule.id for change in found] == ["selection/case-added"]


def test_diff_reports_messages_for_no_tool_that_now_select_one(diff: Diff) -> None:
    near = "cases: [{message: archive the page, near: [the old shelf]}]\n"
    none = "cases: [{message: what is on the shelf?, tool: null}]\n"
    shelf = TOOL.format("Archives a page on the shelf.")
    found = diff(
        {"delete_page": DELETE, "archive_page": ARCHIVE + near},
        {"delete_page": DELETE, "archive_page": shelf + near},
        (none, none),
    )
    assert {c.rule.id for c in found} == {"selection/case-lost"}
    assert {(c.tool, c.message.partition(":")[0]) for c in found} == {
        ("", "1 message that must select no tool now selects `archive_page`"),
        ("archive_page", "1 near miss of `archive_page` now selects it"),
    }


def test_diff_compares_a_renamed_tools_cases_by_its_new_name(diff: Diff) -> None:
    keep = TOOL.format("Keeps what is old.") + "cases: [{message: to the archive}]\n"
    found = diff(
        {"delete_page": DELETE, "archive_page": keep},
        {"delete_page": DELETE, "keep": keep + "renamed_from: [archive_page]\n"},
    )
    message = '`keep` loses 1 of its 1 case: "to the archive" (1 -> not found)'
    assert list_messages(found) == [("selection/case-lost", "breaking", message)]
    spec = ARCHIVE + CASES
    found = diff({"archive_page": spec}, {"store_page": spec})
    assert "selection/case-changed" not in [change.rule.id for change in found]


def test_diff_reports_no_cases_of_added_and_removed_tools(diff: Diff) -> None:
    without_archive = {"delete_page": DELETE}
    with_archive = {"archive_page": ARCHIVE + CASES, **without_archive}
    assert diff(without_archive, with_archive) == []
    assert diff(with_archive, without_archive) == []


def test_diff_reports_added_and_changed_cases_as_safe(diff: Diff) -> None:
    changed_case = "cases: [{message: Archive it!, top: 2}]\n"
    archive = f"{ARCHIVE}cases: [{{message: archive it}}]\n"
    before = {"archive_page": archive, "delete_page": DELETE}
    after = {
        "archive_page": ARCHIVE + changed_case,
        "delete_page": f"{DELETE}cases: [{{message: shelve it}}]\n",
    }
    found = diff(before, after, ("", "selection: {top: 3}\n"))
    message = "the rank that expected tools must reach is `3` instead of `1`"
    assert list_messages(found) == [
        ("toolset.selection.top/changed", "safe", message),
        ("selection/case-changed", "safe", '"Archive it!" has other requirements'),
        ("selection/case-added", "safe", '"shelve it" is new'),
    ]


def test_diff_builds_no_ranking_without_selection_cases(
    diff: Diff, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a ranking was made")

    ranking = "toolcast_runtime.router.lexical_ranking.LexicalRanking"
    monkeypatch.setattr(f"{ranking}.__init__", fail)
    assert diff({"a": DELETE}, {"a": ARCHIVE}) == []
