"""The examples that show what breaks: they are short, true, and heed what else is asked."""

from __future__ import annotations

from typing import Any

from tests.diff.schemas.comparing import compared, told
from toolcast.changes.change import ABSENT, Grade
from toolcast.model.model import Action, Actions


def of(**properties: Any) -> dict[str, Any]:
    """A schema of parameters."""
    return {"type": "object", "properties": properties}


def test_a_pattern_that_other_parameters_must_match_is_matched() -> None:
    key = {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"}
    before = {
        **of(key=key, limit={"type": "integer", "maximum": 50}),
        "required": ["key"],
    }
    after = {
        **of(key=key, limit={"type": "integer", "maximum": 20}),
        "required": ["key"],
    }

    (change,) = compared(before, after, "parameters")

    assert change.witness == {"key": "AAA-0000", "limit": 50}
    assert change.path == ("parameters", "properties", "limit", "maximum")


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
    assert breaking.reason == "the changes together refuse it"
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
    assert change.grades.call in (Grade.BREAKING, Grade.RISKY)


def test_a_long_example_is_cut_in_the_message_alone() -> None:
    before = of(a={"type": "string", "maxLength": 900})
    after = of(a={"type": "string", "maxLength": 800})

    (change,) = compared(before, after, "parameters")

    assert len(change.witness["a"]) == 801
    assert len(change.message) < 300
    assert "…" in change.message


def test_an_example_says_nothing_of_annotations() -> None:
    before, after = of(a={"title": "A"}), of(a={"title": "B"})

    (change,) = compared(before, after, "parameters")

    assert change.witness is ABSENT
    assert told(change).startswith("title-changed, safe safe safe safe:")
