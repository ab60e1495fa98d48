"""Schemas that allow null, and each notation for adding null to a schema."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.providers.combined_schemas import (
    allows_null,
    make_nullable,
    spell_nullable,
)
from toolcast_runtime.providers.dialect import Nullable

Schema = dict[str, Any]
_TARGETS: dict[str, Any] = {
    "nothing": {"type": "null"},
    "text": {"type": "string"},
    "itself": {"$ref": "itself"},
    "itself or nothing": {"anyOf": [{"$ref": "itself or nothing"}, {"type": "null"}]},
}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (True, True),
        (False, False),
        ({}, True),
        ({"type": "null"}, True),
        ({"type": ["string", "null"]}, True),
        ({"type": "string"}, False),
        ({"enum": [1, None]}, True),
        ({"enum": [1]}, False),
        ({"const": None}, True),
        ({"const": 1}, False),
        ({"type": "null", "enum": [1]}, False),
        ({"not": {"type": "string"}}, False),
        ({"if": {}}, False),
        ({"$dynamicRef": "#nothing"}, False),
        ({"$ref": "nothing"}, True),
        ({"$ref": "text"}, False),
        ({"$ref": "nowhere"}, False),
        ({"$ref": "itself"}, False),
        ({"$ref": "itself or nothing"}, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, True),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, True),
        ({"anyOf": [{"type": "string"}]}, False),
        ({"allOf": [{"type": "string"}, {"type": "null"}]}, False),
        ({"allOf": [{}, {"type": "null"}]}, True),
    ],
)
def test_schema_is_nullable_if_all_keywords_allow_null(
    schema: Any, expected: bool
) -> None:
    assert allows_null(schema, _TARGETS.__getitem__) is expected
    if isinstance(schema, dict):
        assert (
            allows_null({"allOf": [schema, schema]}, _TARGETS.__getitem__) is expected
        )


def test_schema_is_checked_for_nullability_up_to_40_levels_deep() -> None:
    alternatives: list[Schema] = [{"type": "null"}]
    references = {"0": {"type": "null"}}
    for level in range(40):
        alternatives.append({"anyOf": [alternatives[-1]]})
        references[str(level + 1)] = {"$ref": str(level)}
    for levels, expected in ((39, True), (40, False)):
        assert allows_null(alternatives[levels], references.__getitem__) is expected
        schema = references[str(levels)]
        assert allows_null(schema, references.__getitem__) is expected


_TEXT_OR_NULL = {"anyOf": [{"type": "string"}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("schema", "spelling", "expected"),
    [
        ({"type": "string"}, Nullable.ANY, {"type": ["string", "null"]}),
        ({"type": ["null"]}, Nullable.ANY, {"type": ["null"]}),
        ({"type": "string"}, Nullable.ANY_OF, _TEXT_OR_NULL),
        (
            {"type": "string", "enum": ["a"]},
            Nullable.TYPE_LIST,
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"type": ["string", "null"], "enum": ["a", None]},
            Nullable.TYPE_LIST,
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"type": "string", "const": "a", "title": "A"},
            Nullable.ANY,
            {
                "title": "A",
                "anyOf": [{"type": "string", "const": "a"}, {"type": "null"}],
            },
        ),
        (
            {"$ref": "#", "title": "A"},
            Nullable.ANY,
            {"title": "A", "anyOf": [{"$ref": "#"}, {"type": "null"}]},
        ),
        (
            {"anyOf": [{"type": "string"}], "title": "A"},
            Nullable.ANY,
            {"title": "A", **_TEXT_OR_NULL},
        ),
        (
            {"anyOf": [{"type": "string"}], "minLength": 1},
            Nullable.ANY,
            {
                "anyOf": [
                    {"anyOf": [{"type": "string"}], "minLength": 1},
                    {"type": "null"},
                ]
            },
        ),
    ],
)
def test_schema_is_made_nullable_in_each_null_notation(
    schema: Schema, spelling: Nullable, expected: Schema
) -> None:
    assert make_nullable(schema, spelling) == expected


@pytest.mark.parametrize(
    "schema", [_TEXT_OR_NULL, {"type": ["string", "null"]}, {"enum": ["a", None]}]
)
def test_nullable_schema_is_unchanged_if_the_provider_accepts_any_null_notation(
    schema: Schema,
) -> None:
    assert spell_nullable(schema, Nullable.ANY) == schema


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (_TEXT_OR_NULL, {"type": ["string", "null"]}),
        ({**_TEXT_OR_NULL, "title": "A"}, {"type": ["string", "null"], "title": "A"}),
        ({"anyOf": [{"type": ["string", "integer"], "enum": ["a"]}]}, None),
        (
            {"anyOf": [{"type": "null"}, {"type": "string", "enum": ["a"]}]},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        ({**_TEXT_OR_NULL, "minLength": 1}, None),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, None),
        ({"anyOf": [{"type": "null"}, {"type": "null"}]}, None),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, None),
        ({"anyOf": [{"type": "string", "const": "a"}, {"type": "null"}]}, None),
        ({"anyOf": [{"type": "string", "anyOf": [{}]}, {"type": "null"}]}, None),
        ({"anyOf": [*_TEXT_OR_NULL["anyOf"], {"type": "integer"}]}, None),
        ({"type": "string"}, None),
    ],
)
def test_anyof_with_null_next_to_a_single_type_becomes_a_type_list(
    schema: Schema, expected: Schema | None
) -> None:
    """`expected` is None if the schema stays unchanged."""
    same = schema if expected is None else expected
    assert spell_nullable(schema, Nullable.TYPE_LIST) == same


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, None),
        ({"type": "string", "const": "a"}, None),
        ({"enum": ["a"]}, None),
        (
            {"enum": ["a", None]},
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
        ),
        ({"type": ["string"]}, {"type": "string"}),
        ({"type": ["string", "null"]}, _TEXT_OR_NULL),
        (
            {"type": ["string", "integer"], "minLength": 1, "maximum": 2, "title": "A"},
            {
                "title": "A",
                "anyOf": [
                    {"type": "string", "minLength": 1},
                    {"type": "integer", "maximum": 2},
                ],
            },
        ),
        (
            {"type": ["string", "integer", "null"], "enum": ["a", None]},
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
        ),
        ({"type": ["string", "null"], "const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"type": ["string", "null"], "enum": [1]}, {"type": "string", "enum": [1]}),
        (
            {"type": ["string", "integer"], "anyOf": [{"minimum": 1}]},
            {
                "anyOf": [
                    {"type": "string", "anyOf": [{"minimum": 1}]},
                    {"type": "integer", "anyOf": [{"minimum": 1}]},
                ]
            },
        ),
    ],
)
def test_schema_type_list_is_converted_to_one_anyof_alternative_per_type(
    schema: Schema, expected: Schema | None
) -> None:
    """`expected` is None if nothing changes."""
    same = schema if expected is None else expected
    assert spell_nullable(schema, Nullable.ANY_OF) == same
