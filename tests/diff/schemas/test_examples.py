"""The examples that show what breaks: they are short, true, and heed what else is asked.

Where no plain one shows it, there is none, and the grade stays that of the table.
"""

from __future__ import annotations

from typing import Any

from tests.diff.schemas.comparing import compared, told
from toolcast.diff.change import ABSENT, Grade
from toolcast.model.model import Action, Actions


def of(**properties: Any) -> dict[str, Any]:
    """A schema of parameters."""
    return {"type": "object", "properties": properties}


def test_a_value_that_a_pattern_asks_for_is_taken_from_what_the_schema_says() -> None:
    key = {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"}
    for hint in ({}, {"default": "ABC-1234"}):
        limits = ({"type": "integer", "maximum": most} for most in (50, 20))
        before, after = (
            {**of(key={**key, **hint}, limit=limit), "required": ["key"]}
            for limit in limits
        )

        (change,) = compared(before, after, "parameters")

        assert change.grades.call is Grade.BREAKING
        assert change.path == ("parameters", "properties", "limit", "maximum")
        if hint:
            assert change.witness == {"key": "ABC-1234", "limit": 50}
        else:
            assert change.witness is ABSENT
            assert "accepted" not in change.message


def test_each_of_several_changes_shows_its_own_example() -> None:
    before = of(a={"type": "integer"}, b={"enum": ["x", "y"]}, c={"type": "string"})
    after = {
        **of(a={"type": "integer", "minimum": 0}, b={"enum": ["x"]}),
        "required": ["a"],
    }

    shown = {c.rule.id: c.witness for c in compared(before, after, "parameters")}

    assert shown == {
        "parameter/property-removed": {"c": "a"},
        "parameter/property-required": {},
        "parameter/minimum-set": {"a": -1},
        "parameter/enum-value-removed": {"b": "y"},
    }


def test_what_no_single_change_refuses_is_told_of_all() -> None:
    """Each of two properties still stands in the other alternative; both are gone there."""
    branches = [
        {"properties": {"c": {"type": "integer"}, "a": {}}, "required": ["a"]},
        {"properties": {"c": {"type": "integer"}, "b": {}}, "required": ["b"]},
    ]
    before = {"type": "object", "anyOf": branches}
    after = {
        "type": "object",
        "anyOf": [
            {"properties": {name: {}}, "required": [name]} for name in ("a", "b")
        ],
    }

    changes = compared(before, after, "parameters")

    (breaking,) = [c for c in changes if c.grades.call is Grade.BREAKING]
    assert breaking.rule.id == "parameter/rewritten"
    assert breaking.reason == "only all changes together make the example invalid"
    assert "c" in breaking.witness


def test_an_example_heeds_what_the_actions_of_the_tool_ask_for() -> None:
    before = of(
        action={"enum": ["list", "send"]},
        to={"type": "string"},
        limit={"type": "integer", "maximum": 9},
    )
    after = of(**{**before["properties"], "limit": {"type": "integer", "maximum": 5}})
    values = (Action("list", requires=("to",)), Action("send", requires=("to",)))
    actions = Actions("action", values)
    required = {"required": ["action"]}

    changes = compared(
        {**before, **required}, {**after, **required}, "parameters", actions=actions
    )

    (change,) = changes
    if change.witness is not ABSENT:
        assert {"action", "to", "limit"} <= set(change.witness)
    assert change.grades.call is Grade.BREAKING


def test_a_long_example_is_cut_in_the_message_alone() -> None:
    before = of(a={"type": "string", "maxLength": 900})
    after = of(a={"type": "string", "maxLength": 800})

    (change,) = compared(before, after, "parameters")

    assert len(change.witness["a"]) == 900
    assert len(change.message) < 300
    assert "…" in change.message


def test_an_example_says_nothing_of_annotations() -> None:
    before, after = of(a={"title": "A"}), of(a={"title": "B"})

    (change,) = compared(before, after, "parameters")

    assert change.witness is ABSENT
    assert told(change).startswith("title-changed, safe risky safe safe:")
