"""Examples of arguments or results that a change makes invalid.

An example is short and respects all other requirements. If none is found, the grade is the one
in the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.diff.schemas.comparison import compare_schemas, format_change
from toolcast.diff.change import ABSENT, Grade
from toolcast.model.model import Action, Actions


def build_parameters(**properties: Any) -> dict[str, Any]:
    """Return a schema of parameters."""
    return {"type": "object", "properties": properties}


def test_diff_example_value_for_a_pattern_is_the_default_or_built_from_it() -> None:
    """An example is a call that a schema change makes invalid."""
    key = {"type": "string", "pattern": "^[A-Z]{3}-\\d{4}$"}
    for hint in ({}, {"default": "ABC-1234"}):
        limits = ({"type": "integer", "maximum": maximum} for maximum in (50, 20))
        before, after = (
            {**build_parameters(key={**key, **hint}, limit=limit), "required": ["key"]}
            for limit in limits
        )
        (change,) = compare_schemas(before, after, "parameters")
        assert change.grades.call is Grade.BREAKING
        assert change.path == ("parameters", "properties", "limit", "maximum")
        key_value = "ABC-1234" if hint else "AAA-0000"
        assert change.witness == {"key": key_value, "limit": 50}


@pytest.mark.parametrize("word", ["red", "green", "pink"])
def test_diff_example_is_the_alternative_removed_from_a_pattern(word: str) -> None:
    pattern = "^(red|green|blue|pink|gray)$"
    before, after = (
        build_parameters(a={"type": "string", "pattern": text})
        for text in (pattern, pattern.replace(f"{word}|", ""))
    )
    (change,) = compare_schemas(before, after, "parameters")
    assert change.witness == {"a": word}


def test_diff_gives_each_schema_change_its_own_invalid_arguments_example() -> None:
    integer = {"type": "integer"}
    before = build_parameters(a=integer, b={"enum": ["x", "y"]}, c={"type": "string"})
    after = build_parameters(a={**integer, "minimum": 0}, b={"enum": ["x"]})
    after["required"] = ["a"]
    changes = compare_schemas(before, after, "parameters")
    assert {change.rule.id: change.witness for change in changes} == {
        "parameter/property-removed": {"c": "a"},
        "parameter/property-required": {},
        "parameter/minimum-set": {"a": -1},
        "parameter/enum-value-removed": {"b": "y"},
    }


def test_diff_finds_an_example_if_only_negative_fractions_become_invalid() -> None:
    """The items have no schema that an example could be built from."""
    negative = {"type": "number", "exclusiveMaximum": 0, "not": {"type": "integer"}}
    before, after = (
        build_parameters(a={"type": "array", **keywords})
        for keywords in ({}, {"not": {"contains": negative}})
    )
    (change,) = compare_schemas(before, after, "parameters")
    assert change.grades.call is Grade.BREAKING
    (item,) = change.witness["a"]
    assert item < 0 and item % 1


def test_diff_example_can_be_invalid_only_by_all_schema_changes_together() -> None:
    """Each alternative loses a property that the other one still has without the change."""
    alternatives = [
        [{"properties": {**common, name: {}}, "required": [name]} for name in "ab"]
        for common in ({"c": {"type": "integer"}}, {})
    ]
    before, after = ({"type": "object", "anyOf": schemas} for schemas in alternatives)
    changes = compare_schemas(before, after, "parameters")
    (breaking,) = [c for c in changes if c.grades.call is Grade.BREAKING]
    assert breaking.rule.id == "parameter/rewritten"
    assert breaking.reason == "only all changes together make the example invalid"
    assert "c" in breaking.witness


@pytest.mark.parametrize(
    "send", [Action("send", requires=("to",)), Action("send", requires_any=("to",))]
)
def test_diff_example_is_a_call_with_an_action_that_accepted_it_before(
    send: Action,
) -> None:
    """Another action already required the parameter that is now required."""
    before, after = (
        {**build_parameters(do={"enum": ["send", "list"]}, to={}), "required": names}
        for names in (["do"], ["do", "to"])
    )
    actions = Actions("do", (send, Action("list")))
    (change,) = compare_schemas(before, after, "parameters", actions=actions)
    assert change.witness == {"do": "list"}


@pytest.mark.parametrize(("length", "is_truncated"), [(91, False), (92, True)])
def test_diff_message_truncates_its_example_value_at_100_characters(
    length: int, is_truncated: bool
) -> None:
    before, after = (
        build_parameters(a={"type": "string", "maxLength": maximum})
        for maximum in (length, length - 1)
    )
    (change,) = compare_schemas(before, after, "parameters")
    assert change.witness == {"a": "a" * length}
    shown = change.message.split("`")[-2]
    assert len(shown) == 100 and ("…" in shown) is is_truncated


def build_nested_objects(levels: int, leaf: Any) -> Any:
    """Return object schemas nested in each other, with the leaf in the innermost one."""
    for _ in range(levels):
        leaf = build_parameters(a=leaf)
    return leaf


def build_wide_object(count: int, leaf: Any) -> Any:
    """Return an object schema whose last property has the leaf's schema."""
    return build_parameters(**{f"p{i:02}": {} for i in range(count - 1)}, p99=leaf)


INTEGERS = [{"type": "integer"}, {"type": "integer", "minimum": 5}]
ALTERNATIVES = [{"anyOf": [{"type": "null"}, schema]} for schema in INTEGERS]


@pytest.mark.parametrize(
    ("build_schema", "leaves", "limit"),
    [
        (build_nested_objects, INTEGERS, 5),
        # The choice of an alternative is a level, too.
        (build_nested_objects, ALTERNATIVES, 4),
        (build_wide_object, INTEGERS, 60),
    ],
)
def test_diff_finds_an_example_for_at_most_5_levels_and_60_properties(
    build_schema: Callable[[int, Any], Any], leaves: list[Any], limit: int
) -> None:
    """Changes above the limit are breaking without an example."""
    for count, has_example in ((limit, True), (limit + 1, False)):
        before, after = (build_schema(count, leaf) for leaf in leaves)
        (change,) = compare_schemas(before, after, "parameters")
        assert change.grades.call is Grade.BREAKING
        assert (change.witness is not ABSENT) is has_example


@pytest.mark.parametrize("keyword", ["maxItems", "maxLength"])
def test_diff_example_has_at_most_1000_items_or_characters(keyword: str) -> None:
    schema = {"type": "array" if keyword == "maxItems" else "string"}
    for maximum, has_example in ((999, True), (1_000, False)):
        before, after = (
            build_parameters(a={**schema, **limit})
            for limit in ({}, {keyword: maximum})
        )
        (change,) = compare_schemas(before, after, "parameters")
        assert (change.witness is not ABSENT) is has_example


def test_diff_schema_annotation_change_has_no_example() -> None:
    before, after = (build_parameters(a={"title": title}) for title in "AB")
    (change,) = compare_schemas(before, after, "parameters")
    assert change.witness is ABSENT
    assert format_change(change).startswith("title-changed, safe risky safe safe:")
