"""Each single change has the rules and the grades that the table says, and goes back."""

from __future__ import annotations

import random
import re

import pytest

from tests.diff.single_changes import SingleChange, single_changes, told
from tests.repository import EXTENSIONS
from toolcast.diff.change import ABSENT, is_equal_json
from toolcast.diff.comparison import compare, load_change_rules

CASES = single_changes()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_means_what_the_table_says(case: SingleChange) -> None:
    """There and back, which is of the opposite kinds; it says where it is and what was there."""
    known = load_change_rules(EXTENSIONS)
    changes = case.compared.changes
    assert sorted(map(told, changes)) == list(case.changes)
    opposite = [known[change.rule.id].opposite for change in changes]
    back = [change.rule.id for change in case.compared_back.changes]
    assert sorted(back) == sorted(opposite if case.back is None else case.back)
    assert len({change.fingerprint for change in changes}) == len(changes)
    for change in changes:
        assert change.message == change.message.strip()
        assert change.message and change.message.count("`") % 2 == 0
        assert change.path
        is_hidden = change.message.endswith("which may contain a secret")
        assert is_hidden == is_equal_json(change.before, change.after)
        assert change.is_in_old_version == (change.after is ABSENT)
        assert (change.grades == change.rule.grades) == (not change.reason)
        assert change.location.file and change.location.line


def test_what_is_many_is_told_as_many() -> None:
    messages = [c.message for case in CASES for c in case.compared.changes]
    plural = re.compile(r"the (icons|seconds|bytes|values|folders)\b[^;]* (is|are) ")
    verbs = [match[2] for one in messages if (match := plural.match(one))]

    assert verbs and set(verbs) == {"are"}


def test_any_two_states_compare_and_go_back() -> None:
    """Many changes at once hide none of each other, and none comes twice."""
    chosen = random.Random(0)
    known = load_change_rules(EXTENSIONS)
    sides = [side for case in CASES for side in case.sides]
    for _ in range(100):
        before, after = chosen.sample(sides, 2)
        changes, back = compare(before, after).changes, compare(after, before).changes

        assert len({change.fingerprint for change in changes}) == len(changes)
        # How it is told that a tool goes or changes its name depends on what one side
        # promised of it, and what messages lead to is tried with the cases of one.
        there, gone_back = (
            sorted(id_ for id_ in ids if not id_.startswith(("tool/", "selection/")))
            for ids in (
                [known[change.rule.id].opposite for change in changes],
                [change.rule.id for change in back],
            )
        )
        assert gone_back == there
