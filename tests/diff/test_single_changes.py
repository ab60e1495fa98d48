"""Kinds and grades that `toolcast diff` reports for single changes, in both directions."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from tests.diff.single_changes import (
    SingleChange,
    get_rule_and_grades,
    load_project,
    load_single_changes,
)
from tests.repository import EXTENSIONS
from toolcast.diff.change import ABSENT, is_equal_json
from toolcast.diff.comparison import compare, load_change_rules

CASES = load_single_changes()
Fields = dict[str, Any]
SINGULAR_VERB = re.compile(r"the (icons|seconds|bytes|values|folders)\b[^;]* is ")
"""A message about a plural field whose verb is wrong."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_diff_reports_each_single_change_as_expected(case: SingleChange) -> None:
    """Each change also has a message, a path, a location and a unique fingerprint.

    The reverse comparison has the old and new values exchanged.
    """
    rules = load_change_rules(EXTENSIONS)
    changes = case.comparison.changes
    assert sorted(map(get_rule_and_grades, changes)) == list(case.changes)
    back = case.reverse_comparison.changes
    expected = case.back
    if expected is None:
        expected = [rules[change.rule.id].opposite for change in changes]
        values = sorted(repr((change.before, change.after)) for change in changes)
        assert sorted(repr((change.after, change.before)) for change in back) == values
    assert sorted(change.rule.id for change in back) == sorted(expected)
    assert len({change.fingerprint for change in changes}) == len(changes)
    for change in changes:
        assert change.message == change.message.strip()
        assert change.message and change.message.count("`") % 2 == 0
        assert not SINGULAR_VERB.match(change.message)
        assert change.path
        is_hidden = change.message.endswith("which may contain a secret")
        assert is_hidden == is_equal_json(change.before, change.after)
        assert change.is_in_old_version == (change.after is ABSENT)
        assert (change.grades == change.rule.grades) == (not change.reason)
        assert change.location.file and change.location.line


EVERY_TOOL = {"clients": {"copilot": {"allow": "*"}}}
NO_TOOL = {"clients": {"copilot": {"allow": []}}}
SECTION_ONLY = {
    "sections": {"mine": {"heading": "Mine"}},
    "clients": {"copilot": {"allow": ["section:mine"]}},
}
READ_ONLY = {"permissions": {"write": "Write."}, "clients": {"copilot": {"allow": "*"}}}
WRITES = {"permission": "write"}
CLIENT = {"allow": "*", "permissions": ["write"]}
MAY_WRITE = {**READ_ONLY, "clients": {"copilot": CLIENT}}


@pytest.mark.parametrize(
    ("before", "after", "file"),
    [
        ((EVERY_TOOL, {}), (EVERY_TOOL, {"clients": []}), "toy/note.yaml"),
        ((SECTION_ONLY, {"section": "mine"}), (SECTION_ONLY, {}), "toy/note.yaml"),
        ((READ_ONLY, {}), (READ_ONLY, WRITES), "toy/note.yaml"),
        ((EVERY_TOOL, {}), (NO_TOOL, {}), "toy/toolset.yaml"),
        ((MAY_WRITE, WRITES), (READ_ONLY, WRITES), "toy/toolset.yaml"),
    ],
    ids=["clients", "section", "permission", "client's tools", "client's permissions"],
)
def test_diff_locates_a_lost_tool_in_the_spec_file_that_was_edited(
    before: tuple[Fields, Fields], after: tuple[Fields, Fields], file: str
) -> None:
    files = ({"toolset": toolset, "note": note} for toolset, note in (before, after))
    old, new = map(load_project, files)
    locations = [
        change.location.file
        for change in compare(old, new).changes
        if change.rule.id in ("tool.offered/removed", "tool.prohibition/added")
    ]
    assert locations == [file]


ENTRIES = ("tool/", "resource/", "prompt/")
"""Prefixes of the ids of added and removed entries."""


def test_diff_compares_any_two_projects_with_opposite_changes_in_both_directions() -> (
    None
):
    """Changes in one comparison do not hide each other and are not repeated."""
    randomizer = random.Random(0)
    rules = load_change_rules(EXTENSIONS)
    versions = [version for case in CASES for version in case.versions]
    for _ in range(100):
        before, after = randomizer.sample(versions, 2)
        changes, back = compare(before, after).changes, compare(after, before).changes
        assert len({change.fingerprint for change in changes}) == len(changes)
        ids = [change.rule.id for change in changes]
        back_ids = [change.rule.id for change in back]
        # Removed and renamed tools depend on the stability in the old version, and selection
        # cases come from the new version: their changes need not be opposites.
        one_way: tuple[str, ...] = ("tool/", "selection/")
        if any(i.startswith(ENTRIES) for i in (*ids, *back_ids)):
            # Changes of access to added entries, and of their names in texts, are reported;
            # those of removed entries are not.
            one_way += ("tool.offered/", "client.mcp/", "text/names-")
        opposites = [rules[i].opposite for i in ids if not i.startswith(one_way)]
        reverse = [i for i in back_ids if not i.startswith(one_way)]
        assert sorted(reverse) == sorted(opposites)
