"""Changes of the outcomes of selection cases: messages that tools gain and lose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from toolcast.diff.change import Change, Grade
from toolcast.diff.comparison import compare, load_change_rules
from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace

Changes = Callable[..., list[Change]]
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


def workspace(folder: Path, toolset: str = "", **tools: str) -> Workspace:
    """Write a project to a folder, and load it."""
    specs = folder / "specs" / "toy"
    specs.mkdir(parents=True)
    (folder / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/toy]\n")
    head = "name: toy\ntitle: Toy\ntargets: {registry: {}}\n"
    (specs / "toolset.yaml").write_text(head + toolset)
    for name, spec in tools.items():
        (specs / f"{name}.yaml").write_text(f"name: {name}\n{spec}")
    loaded = load_workspace(str(folder))
    assert loaded.workspace is not None, loaded.findings
    return loaded.workspace


@pytest.fixture
def changes(tmp_path: Path) -> Changes:
    def made(
        before: Mapping[str, str],
        after: Mapping[str, str],
        toolset: tuple[str, str] = ("", ""),
    ) -> list[Change]:
        old, new = (
            workspace(tmp_path / name, toolset=text, **tools)
            for name, text, tools in (
                ("before", toolset[0], before),
                ("after", toolset[1], after),
            )
        )
        changes = compare(old, new).changes
        return [c for c in changes if "selection" in c.rule.id]

    return made


def told(changes: list[Change]) -> list[tuple[str, str, str]]:
    return [(c.rule.id, c.grades.prompt.label, c.message) for c in changes]


def test_a_text_that_takes_another_tools_words_loses_its_cases(
    changes: Changes,
) -> None:
    greedy = TOOL.format(
        "Deletes or archives a page; archive, archive, the old archive."
    )
    found = changes(
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


def test_the_way_back_wins_them(changes: Changes) -> None:
    case = "cases: [{message: shelve it for good}]\n"
    shelve = TOOL.format("Shelve, shelve a page.")
    found = changes(
        {"delete_page": DELETE, "archive_page": ARCHIVE + case},
        {"delete_page": DELETE, "archive_page": shelve + case},
    )
    assert told(found) == [
        (
            "selection/case-won",
            "safe",
            "`archive_page` wins 1 of its 1 case from `delete_page`: "
            '"shelve it for good" (not found -> 1)',
        )
    ]


def test_few_of_many_cases_are_risky(changes: Changes) -> None:
    other = TOOL.format("Tells what nobody reads.")
    found = changes(
        {"report": TOOL.format("Tells."), "archive_page": ARCHIVE + CASES},
        {"report": other, "archive_page": ARCHIVE + CASES},
    )
    [(rule, grade, message)] = told(found)
    assert (rule, grade) == ("selection/case-lost", "risky")
    assert message == (
        '`archive_page` loses 1 of its 4 cases to `report`: "archive what nobody reads"'
        " (1 -> 2)"
    )


def test_a_rank_behind_the_limit_is_no_loss(changes: Changes) -> None:
    gate = "selection: {top: 2}\n"
    other = TOOL.format("Tells what nobody reads.")
    found = changes(
        {"report": TOOL.format("Tells."), "archive_page": ARCHIVE + CASES},
        {"report": other, "archive_page": ARCHIVE + CASES},
        (gate, gate),
    )
    [(rule, grade, message)] = told(found)
    assert (rule, grade) == ("selection/rank-lower", "risky")
    assert message.startswith("`archive_page` ranks lower for 1 of its 4 cases: ")


def test_a_near_miss_and_a_message_for_no_tool(changes: Changes) -> None:
    near = "cases: [{message: archive the page, near: [the old shelf]}]\n"
    none = "cases: [{message: what is on the shelf?, tool: null}]\n"
    shelf = TOOL.format("Archives a page on the shelf.")
    found = changes(
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


def test_a_renamed_tool_is_compared_with_itself(changes: Changes) -> None:
    keep = TOOL.format("Keeps what is old.") + "cases: [{message: to the archive}]\n"
    found = changes(
        {"delete_page": DELETE, "archive_page": keep},
        {"delete_page": DELETE, "keep": keep + "renamed_from: [archive_page]\n"},
    )
    assert told(found) == [
        (
            "selection/case-lost",
            "breaking",
            '`keep` loses 1 of its 1 case: "to the archive" (1 -> not found)',
        )
    ]


def test_a_tools_own_cases_mean_it_by_whatever_name(changes: Changes) -> None:
    spec = ARCHIVE + CASES
    found = changes({"archive_page": spec}, {"store_page": spec})
    assert [c for c in found if c.rule.id == "selection/case-changed"] == []


@pytest.mark.parametrize("comes", [True, False])
def test_the_cases_of_a_tool_come_and_go_with_it(comes: bool, changes: Changes) -> None:
    one = {"delete_page": DELETE}
    both = {"archive_page": ARCHIVE + CASES, **one}
    assert changes(*((one, both) if comes else (both, one))) == []


def test_cases_and_gates_that_come_go_and_change(changes: Changes) -> None:
    one, other = "cases: [{message: archive it}]\n", "cases: [{message: shelve it}]\n"
    again = "cases: [{message: Archive it!, top: 2}]\n"
    both = {"archive_page": ARCHIVE + one, "delete_page": DELETE}
    found = changes(
        both,
        {"archive_page": ARCHIVE + again, "delete_page": DELETE + other},
        ("", "selection: {top: 3}\n"),
    )
    assert told(found) == [
        (
            "toolset.selection.top/changed",
            "safe",
            "the rank that expected tools must reach is `3` instead of `1`",
        ),
        ("selection/case-changed", "safe", '"Archive it!" has other requirements'),
        ("selection/case-added", "safe", '"shelve it" is new'),
    ]


def test_without_cases_nothing_is_tried(
    changes: Changes, monkeypatch: pytest.MonkeyPatch
) -> None:

    def never(*_: object) -> None:
        raise AssertionError("a ranking was made")

    monkeypatch.setattr(
        "toolcast_runtime.router.lexical_ranking.LexicalRanking.__init__", never
    )
    assert changes({"a": DELETE}, {"a": ARCHIVE}) == []
    monkeypatch.undo()


def test_every_rule_has_an_opposite() -> None:
    known = [
        rule
        for id_, rule in load_change_rules(()).items()
        if id_.startswith("selection/")
    ]
    ids = {rule.id for rule in known}
    opposites = {rule.opposite for rule in known}
    assert opposites == ids
