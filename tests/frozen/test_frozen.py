"""What the code says of the frozen cases is what it said, but for what is listed.

Some of the cases are tried at once, all of them by `make test-slow`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.frozen.collect import PARTS, Row, names_of
from tests.frozen.compare import (
    CHANGES,
    MADE,
    Comparison,
    checked,
    frozen,
    held_to,
    listed,
    problems,
)
from tests.repository import MISSING

NONE = Comparison({}, {})
FINDING = ["case", "prompt/todo", "note", "specs/a.yaml", 3, 1, "`x` is to do"]
CHANGE = ["case", "there", "run/timeout", "toy", "a", "timeout", "risky safe safe safe"]
SAFE = [*CHANGE[:-1], "safe safe safe safe"]
WHY = "The sentence is shorter now."


@pytest.mark.rows(3)
@pytest.mark.parametrize("part", PARTS)
def test_a_sample_is_as_it_was_frozen(part: str) -> None:
    said = problems(part, names_of(part)[::100])
    assert not said, said


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", PARTS)
def test_everything_is_as_it_was_frozen(part: str) -> None:
    said = problems(part, names_of(part) if MISSING else None)
    assert not said, said


@pytest.mark.parametrize("part", PARTS)
def test_there_is_much_of_each_part(part: str) -> None:
    rows = frozen(part)
    assert len(rows) > 100
    assert rows == sorted(rows, key=lambda row: json.dumps(row, separators=(",", ":")))
    assert {len(row) for row in rows} == {3 if part in MADE else 7}
    if part not in (*CHANGES, *MADE):
        assert len({row[1] for row in rows}) > (2 if part == "annotations" else 10)


def left_of(part: str, old: list[Row], new: list[Row], *entries: Any) -> list[str]:
    """What is wrong, as lists of rows by their names and sentences."""
    found = NONE.differences(part, old, new)
    left, wrong = held_to(part, found, checked(list(entries)))
    names = ("gone", "new", "graded", "made", "messages")
    return [*wrong, *(name for name in names for _ in getattr(left, name))]


def entry(part: str = "rules", reason: str = WHY, **lists: Any) -> dict[str, Any]:
    return {"part": part, "reason": reason, **lists}


def test_equal_rows_differ_in_nothing() -> None:
    assert left_of("rules", [FINDING, FINDING], [FINDING, FINDING]) == []
    assert left_of("changes", [CHANGE, SAFE], [SAFE, CHANGE]) == []


@pytest.mark.parametrize("place", range(6))
def test_each_strict_column_is_compared(place: int) -> None:
    other = [*FINDING]
    other[place] = 9 if isinstance(other[place], int) else "other"
    assert left_of("rules", [FINDING], [other]) == ["gone", "new"]


def test_a_row_that_came_twice_comes_twice() -> None:
    assert left_of("rules", [FINDING, FINDING], [FINDING]) == ["gone"]
    row = FINDING[:-1]
    assert left_of("rules", [FINDING] * 2, [FINDING], entry(gone=[row])) == []


def test_words_are_covered_by_an_entry_for_their_rule() -> None:
    other = [*FINDING[:-1], "`x` is still to do"]
    assert left_of("rules", [FINDING], [other]) == ["messages"]
    assert left_of("rules", [FINDING], [other], entry(messages=["prompt/todo"])) == []
    assert left_of("rules", [FINDING], [other], entry(messages=["prompt/x"])) == [
        "messages"
    ]


def test_what_is_listed_and_does_not_occur_is_told() -> None:
    (said,) = left_of("rules", [FINDING], [FINDING], entry(gone=[FINDING[:-1]]))
    assert said.startswith("gone: does not occur any more: ")


def test_former_ids_become_present_ones() -> None:
    rules = Comparison({"prompt/todo": "prompt/phrase", "prompt/gone": None}, {})
    now = [FINDING[0], "prompt/phrase", *FINDING[2:]]
    went = [FINDING[0], "prompt/gone", *FINDING[2:]]
    found = rules.differences("rules", [FINDING, went], [now])
    assert not found.gone and not found.new and not found.messages


def test_a_kind_of_change_may_have_become_several() -> None:
    """Two kinds share one of theirs; each present row is that of one frozen row."""
    both = {"run/timeout": ["tool.timeout/*", "x/x"], "run/other": "tool.timeout/set"}
    kinds = Comparison({}, both)
    other = [*CHANGE[:2], "run/other", *CHANGE[3:]]
    now = [[*CHANGE[:2], f"tool.timeout/{end}", *CHANGE[3:]] for end in ("set", "cut")]
    found = kinds.differences("changes", [CHANGE, other], now)
    assert not found.gone and not found.new and not found.graded
    found = kinds.differences("changes", [CHANGE, other], now[:1])
    assert len(found.gone) == 1
    found = kinds.differences("changes", [CHANGE, CHANGE], now[1:])
    assert len(found.gone) == 1


def test_a_milder_grade_for_callers_has_an_entry_of_its_own() -> None:
    graded = [*CHANGE, SAFE[-1]]
    second = ["other", *CHANGE[1:]], ["other", *SAFE[1:]]
    old, new = [CHANGE, second[0]], [SAFE, second[1]]
    assert left_of("changes", [CHANGE], [SAFE]) == ["graded"]
    alone = entry("changes", graded=[graded])
    assert left_of("changes", [CHANGE], [SAFE], alone) == []
    shared = entry("changes", graded=[graded, [*second[0], SAFE[-1]]])
    said = left_of("changes", old, new, shared)
    assert [one.partition(":")[0] for one in said] == [
        "milder for callers, and no entry of its own"
    ] * 2
    again = entry("changes", graded=[[*second[0], SAFE[-1]]])
    assert len(left_of("changes", old, new, alone, again)) == 2, "one reason for two"
    own = {**again, "reason": "Another reason, for this one."}
    assert left_of("changes", old, new, alone, own) == []
    harsher = entry("changes", graded=[[*SAFE, CHANGE[-1]], [*second[1], CHANGE[-1]]])
    assert left_of("changes", new, old, harsher) == []


def test_a_change_that_nobody_tells_any_more_is_milder_too() -> None:
    rows = [CHANGE, [*CHANGE[:5], "parameters", CHANGE[-1]]]
    both = entry("changes", gone=rows)
    assert len(left_of("changes", rows, [], both)) == 2
    assert left_of("changes", rows, rows[:1], entry("changes", gone=rows[1:])) == []
    assert NONE.differences("changes", rows, rows[:1]).milder == [], "the other says it"


@pytest.mark.parametrize(
    "wrong",
    [
        {"part": "rules", "gone": [FINDING[:-1]]},
        entry(reason="TODO: say why this is so", gone=[FINDING[:-1]]),
        entry(reason="short", gone=[FINDING[:-1]]),
        entry("rulez", gone=[FINDING[:-1]]),
        entry(rows=[FINDING[:-1]]),
        entry(),
    ],
)
def test_an_entry_says_why_and_of_what(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="an entry"):
        checked([wrong])


def test_the_list_is_as_lists_are() -> None:
    assert isinstance(listed(), list)
