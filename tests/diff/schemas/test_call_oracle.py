"""What is graded safe for calls breaks none, found out in an independent way.

If arguments exist that were valid and are not any more, one of the changes is not safe, and
in all but two of a hundred pairs one is breaking. What a change shows as an example is
what it says. For results it is the mirror: those that can come and could not; but a new
field of a closed result is risky, since few readers refuse it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.diff.schemas.comparing import compared
from tests.diff.schemas.oracle import accepts, difference
from tests.diff.schemas.schema_pairs import changed, independent
from toolcast.diff.change import ABSENT, Change, Grade
from toolcast.model.model import Toolset

Pairs = Callable[[Random], tuple[dict[str, Any], dict[str, Any]]]
SEEDS = st.integers(0, 999)
# Which texts are of a format is the library's to say: the cases have what is asserted.
TOOLSET = Toolset(
    name="toy",
    title="Toy",
    folder="specs/toy",
    handlers="handlers",
    formats="annotation",
)
QUICK = settings(max_examples=40, deadline=None, derandomize=True)


def missed(pair: Pairs, seed: int, tries: int) -> int:
    """Checks the grades of a pair, for both fields; how often what breaks is risky only."""
    before, after = pair(Random(seed))
    risky = 0
    for field in ("parameters", "returns"):
        changes = compared(before, after, field, TOOLSET)
        is_call = field == "parameters"
        sender, receiver = (before, after) if is_call else (after, before)
        for change in changes:
            assert_shown(change, sender, receiver, is_call)
        found = difference(Random(seed), sender, receiver, is_call=is_call, tries=tries)
        worst = max((c.grades.call for c in changes), default=Grade.SAFE)
        assert worst is not Grade.SAFE or not found, (field, before, after, found)
        is_new = not is_call and any("property-added" in c.rule.id for c in changes)
        risky += bool(found) and worst is Grade.RISKY and not is_new
    return risky


def assert_shown(change: Change, sender: Any, receiver: Any, is_call: bool) -> None:
    """What a change shows was taken and is not."""
    if change.witness is ABSENT:
        return
    assert change.grades.call is Grade.BREAKING
    assert accepts(sender, change.witness, is_call=is_call, is_sent=True)
    assert not accepts(receiver, change.witness, is_call=is_call, is_sent=False)


@QUICK
@given(SEEDS)
def test_changed_schemas(seed: int) -> None:
    missed(changed, seed, 60)


@QUICK
@given(SEEDS)
def test_schemas_that_know_nothing_of_each_other(seed: int) -> None:
    missed(independent, seed, 60)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1_000, 100))
@pytest.mark.parametrize("pair", [changed, independent])
def test_two_thousand_pairs(pair: Pairs, first: int) -> None:
    """The same seeds each time; TOOLCAST_PAIRS names where to begin with others."""
    start = int(os.environ.get("TOOLCAST_PAIRS", "0")) + first
    assert sum(missed(pair, seed, 300) for seed in range(start, start + 100)) <= 2
