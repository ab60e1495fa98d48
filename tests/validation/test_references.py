"""JSON Schema `$ref` resolved by the rules of a dialect, only inside the schema."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.validation.references import (
    References,
    group_child_schemas,
    list_applied_subschemas,
    list_subschemas,
    resolve_pointer,
    restore_names,
)

PART = {"type": "string"}


@pytest.mark.parametrize(
    ("reference", "schema"),
    [
        ("#/$defs/a", {"$defs": {"a": PART}}),
        ("#/$defs/a~1b", {"$defs": {"a/b": PART}}),
        ("#/allOf/0", {"allOf": [PART]}),
        ("#%2F$defs/a", {"$defs": {"a": PART}}),
        ("#a", {"$defs": {"x": {"$anchor": "a", **PART}}}),
        ("#a", {"$defs": {"x": {"$dynamicAnchor": "a", **PART}}}),
        ("#a", {"definitions": {"x": {"$id": "#a", **PART}}}),
        ("#a", {"definitions": {"x": {"id": "#a", **PART}}}),
        ("a.json", {"$defs": {"x": {"$id": "a.json", **PART}}}),
        ("a.json", {"$defs": {"x": {"$id": "https://example.org/a.json", **PART}}}),
        ("b.json#/$defs/a", {"$defs": {"x": {"$id": "b.json", "$defs": {"a": PART}}}}),
        ("#/$defs/a", {"items": {"$id": "b.json", "$defs": {"a": PART}}}),
    ],
)
def test_ref_is_resolved_in_its_dialect(reference: str, schema: dict[str, Any]) -> None:
    (found,) = References(schema).resolve_all(reference)
    assert found["type"] == "string"


@pytest.mark.parametrize(
    "reference",
    ["#/$defs/b", "#b", "https://example.org/a", "file:///etc/passwd", "#/$defs/a/9"],
)
def test_ref_to_missing_or_external_target_resolves_to_nothing(reference: str) -> None:
    assert References({"$defs": {"a": [PART]}}).resolve_all(reference) == []


def test_json_schema_ref_to_the_root_is_resolved() -> None:
    schema = {"properties": {"a": {"$ref": "#"}}}
    assert References(schema).resolve_all("#") == [schema]
    schema["properties"]["b"] = {"$id": "b.json"}
    assert References(schema).resolve_all("#") == [schema]
    assert References(schema).resolve("b.json#") == {"$id": "b.json"}


def test_ref_to_an_ambiguous_or_unknown_schema_anchor_raises_lookup_error() -> None:
    schema = {"$defs": {"x": {"$anchor": "a"}, "y": {"$dynamicAnchor": "a", **PART}}}
    assert len(References(schema).resolve_all("#a")) == 2
    for reference in ("#a", "#b"):
        with pytest.raises(LookupError):
            References(schema).resolve(reference)


@pytest.mark.parametrize(
    ("pointer", "steps"),
    [
        ("", ()),
        ("/a", ("a",)),
        ("/a/1/0", ("a", 1, 0)),
        ("/a/00000001", ("a", 1)),
        ("/a/000000001", None),
        ("/a/2", None),
        ("/a/x", None),
        ("/a/-", None),
        ("/a/0/0", None),
        ("/b", None),
        ("/~1/~0", ("/", "~")),
        ("/~01", ("~1",)),
    ],
)
def test_json_pointer_is_resolved_to_keys_and_indexes(
    pointer: str, steps: tuple[str | int, ...] | None
) -> None:
    assert resolve_pointer({"a": [1, [2]], "/": {"~": 3}, "~1": 4}, pointer) == steps


@pytest.mark.parametrize(
    ("schema", "subschemas", "applied"),
    [
        ({"properties": {"a": 1, "b": 2}, "type": "object"}, [1, 2], []),
        ({"properties": [1]}, [], []),
        ({"allOf": [1, 2], "not": 3, "if": 4}, [1, 2, 3, 4], [1, 2, 4]),
        ({"allOf": 1, "items": [2, 3], "prefixItems": [4]}, [2, 3, 4], []),
        ({"items": 1, "contains": 2, "contentSchema": 3}, [1, 2, 3], []),
        ({"dependencies": {"a": 1}, "enum": [2], "$defs": {"x": 3}}, [1, 3], [1]),
        ({"additionalItems": 1, "unevaluatedItems": 2, "const": {}}, [1, 2], []),
        ({"additionalProperties": 1, "propertyNames": 2}, [1, 2], []),
    ],
)
def test_list_subschemas_returns_the_direct_subschemas_in_all_keywords(
    schema: dict[str, Any], subschemas: list[Any], applied: list[Any]
) -> None:
    """`list_applied_subschemas` returns only those that apply to the same value."""
    assert [subschema for _, subschema in list_subschemas(schema)] == subschemas
    assert [*list_applied_subschemas(schema)] == applied


@pytest.mark.parametrize(
    ("schema", "groups", "ungrouped"),
    [
        ({}, [], []),
        ({"allOf": [1]}, [[], []], []),
        (
            {"properties": {"a": 1}, "additionalProperties": 2, "propertyNames": 3},
            [[1, 2], []],
            [3],
        ),
        (
            {"prefixItems": [1], "items": 2, "additionalItems": 3, "contains": 4},
            [[], [1, 2, 3]],
            [4],
        ),
        (
            {"patternProperties": {"a": 1}, "unevaluatedProperties": 2}
            | {"unevaluatedItems": 3},
            [[], []],
            [1, 2, 3],
        ),
    ],
)
def test_subschemas_are_grouped_if_only_one_applies_to_a_member_or_item(
    schema: dict[str, Any], groups: list[Any], ungrouped: list[Any]
) -> None:
    assert group_child_schemas(schema) == (groups, ungrouped)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ((7,), ("7",)),
        ((12, "a"), ("012", "a")),
        ((13,), ("+13",)),
        (("items", 1, 5), ("items", 1, "5")),
        ((99,), ("99",)),
        # Steps that lead out of the value are unchanged.
        (("items", 2, 5), ("items", 2, 5)),
        (("07", 1), ("07", 1)),
    ],
)
def test_restore_names_returns_the_name_for_a_property_name_parsed_as_a_number(
    path: tuple[str | int, ...], names: tuple[str | int, ...]
) -> None:
    value = {"07": 1, "7": 2, "012": {"a": 3}, "+13": 4, "items": [0, {"5": 6}]}
    assert restore_names(value, path) == names
