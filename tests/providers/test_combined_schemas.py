"""Merged JSON schemas, and schema alternatives that exclude each other."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.providers.alternatives import (
    exclude_each_other,
    merge_alternatives,
)
from toolcast_runtime.providers.combined_schemas import (
    InexactError,
    add_value_types,
    get_type_name,
    get_types,
    matches_types,
    merge_schemas,
)
from toolcast_runtime.providers.dialect import has_only_annotations

Schema = dict[str, Any]
A: Schema = {"properties": {"a": {}}}
B: Schema = {"properties": {"b": {}}}
AB: Schema = {"properties": {"a": {}, "b": {}}}


def _close(schema: Schema, additional: Any = False) -> Schema:
    return {**schema, "additionalProperties": additional}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (True, "boolean"),
        ("a", "string"),
        (1, "integer"),
        (1.5, "number"),
        ({}, "object"),
        ([], "array"),
        ((), "array"),
        (None, "null"),
        (1j, "number"),
    ],
)
def test_json_type_name_is_determined_for_a_python_value(value: Any, name: str) -> None:
    assert get_type_name(value) == name
    assert matches_types(value, [name])
    assert matches_types(value, None)
    assert not matches_types(value, [])


def test_type_number_matches_integers_and_integer_matches_integral_floats() -> None:
    assert matches_types(1, ["number"])
    assert matches_types(1.0, ["integer"])
    assert not matches_types(1.5, ["integer"])
    assert not matches_types(True, ["integer", "number"])
    assert not matches_types(1, ["string", "boolean"])


def test_schema_type_keyword_is_read_as_a_list_or_none() -> None:
    assert get_types({"type": "string"}) == ["string"]
    assert get_types({"type": ("string", "null")}) == ["string", "null"]
    assert get_types({}) is None
    assert get_types({"type": 1}) is None


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"minimum": 1}, {"minimum": 1}),
        ({"enum": "a"}, {"enum": "a"}),
        ({"enum": []}, {"enum": []}),
        ({"enum": ["a"]}, {"type": "string", "enum": ["a"]}),
        ({"enum": ["a", 1]}, {"type": ["string", "integer"], "enum": ["a", 1]}),
        ({"type": "string", "enum": ["a", 1]}, {"type": "string", "enum": ["a"]}),
        ({"type": "string", "enum": [1]}, None),
        ({"const": "a"}, {"type": "string", "const": "a"}),
        ({"type": "string", "const": 1}, None),
        ({"const": None}, {"type": "null"}),
        ({"enum": [None]}, {"type": "null"}),
        ({"type": ["null"], "enum": [None, 1]}, {"type": ["null"]}),
    ],
)
def test_enum_and_const_schemas_get_the_json_types_that_their_values_have(
    schema: Schema, expected: Any
) -> None:
    assert add_value_types(schema) == expected


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ({"minimum": 1}, {"minimum": 2}, {"minimum": 2}),
        ({"maxLength": 1}, {"maxLength": 2}, {"maxLength": 1}),
        ({"title": "a"}, {"title": "b", "default": 1}, {"title": "a", "default": 1}),
        ({"$ref": "#"}, {"title": "b"}, {"$ref": "#", "title": "b"}),
        ({"title": "a"}, {"$ref": "#"}, {"$ref": "#", "title": "a"}),
        ({"type": "integer"}, {"type": "number"}, {"type": "integer"}),
        ({"type": "number"}, {"type": "integer"}, {"type": "integer"}),
        ({"type": "number"}, {"type": "number"}, {"type": "number"}),
        (
            {"type": ["number", "integer"]},
            {"type": ["null", "integer"]},
            {"type": "integer"},
        ),
        (
            {"type": ["string", "null", "number"]},
            {"type": ["null", "integer", "string"]},
            {"type": ["string", "null", "integer"]},
        ),
        ({"required": ["a"]}, {"required": ["b", "a"]}, {"required": ["a", "b"]}),
        ({"enum": [1, 2, 3]}, {"enum": [3, 1]}, {"enum": [1, 3]}),
        ({"const": [1, {"a": 2}]}, {"const": [1, {"a": 2}]}, {"const": [1, {"a": 2}]}),
        (A, B, AB),
        (
            {"properties": {"a": {"minimum": 1}}},
            {"properties": {"a": {"maximum": 2}}},
            {"properties": {"a": {"minimum": 1, "maximum": 2}}},
        ),
        (
            {"properties": {"a": True, "b": {"minimum": 1}}},
            {"properties": {"a": {"minimum": 1}, "b": True}},
            {"properties": {"a": {"minimum": 1}, "b": {"minimum": 1}}},
        ),
        (_close(A), _close(A), _close(A)),
        (_close(AB), A, _close(AB)),
        (_close(A), _close(A, True), _close(A)),
        (A, _close(A), _close(A)),
        (A, _close(AB), _close(AB)),
        (A, _close(B, True), _close(AB, True)),
        ({"prefixItems": [{}]}, {"prefixItems": [{}]}, {"prefixItems": [{}]}),
        ({"contains": {}}, {"minItems": 1}, {"contains": {}, "minItems": 1}),
    ],
)
def test_merged_json_schema_allows_exactly_what_both_schemas_allow(
    first: Schema, second: Schema, both: Schema
) -> None:
    assert merge_schemas(first, second) == both


@pytest.mark.parametrize(
    ("first", "second", "keyword"),
    [
        ({"$ref": "#"}, {"minimum": 1}, "$ref"),
        ({"minimum": 1}, {"$ref": "#"}, "$ref"),
        ({"type": "string"}, {"type": "integer"}, "type"),
        ({"type": "integer"}, {"type": "string"}, "type"),
        ({"enum": [1]}, {"enum": [True, 2]}, "enum"),
        ({"const": 1}, {"const": True}, "const"),
        ({"const": [1]}, {"const": [1, 2]}, "const"),
        ({"const": [1]}, {"const": {"a": 1}}, "const"),
        ({"const": {"a": 1}}, {"const": {"a": 2}}, "const"),
        ({"const": {"a": 1}}, {"const": {"b": 1}}, "const"),
        ({"pattern": "a"}, {"pattern": "b"}, "pattern"),
        ({"uniqueItems": False}, {"uniqueItems": True}, "uniqueItems"),
        ({"prefixItems": [{}]}, {"items": {}}, "items"),
        ({"properties": {"a": False}}, {"properties": {"a": {}}}, "properties"),
        (_close(A), AB, "additionalProperties"),
        (_close(A), _close(AB), "additionalProperties"),
        (_close(AB), _close(A), "additionalProperties"),
        (_close(A), _close(A, {}), "additionalProperties"),
        (AB, _close(A), "additionalProperties"),
        (_close(A, {}), B, "additionalProperties"),
        (A, _close(B, {}), "additionalProperties"),
        (
            {"properties": {"a": {}}, "patternProperties": {"b": {}}},
            {"properties": {"c": {}}},
            "patternProperties",
        ),
    ],
)
def test_schemas_that_cannot_be_merged_exactly_raise_an_error_with_the_keyword(
    first: Schema, second: Schema, keyword: str
) -> None:
    with pytest.raises(InexactError) as refused:
        merge_schemas(first, second)
    assert refused.value.args == (keyword,)


def test_has_only_annotations_is_true_for_a_schema_without_constraints() -> None:
    """`$ref` and `type` are constraints; `title` and `default` are annotations."""
    keywords: Schema = dict.fromkeys(
        "title description default examples deprecated readOnly writeOnly".split(), 1
    )
    assert has_only_annotations({})
    assert has_only_annotations(keywords)
    assert not has_only_annotations({**keywords, "type": "string"})
    assert not has_only_annotations({"$ref": "#"})


def _require(name: str, value: Any, **others: Any) -> Schema:
    properties = {name: {"const": value}}
    return {"type": "object", "required": [name], "properties": properties, **others}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (False, {}, True),
        ({}, False, True),
        (True, {"type": "string"}, False),
        ({"type": "string"}, True, False),
        ({"const": 1}, {"const": 2}, True),
        ({"const": 1}, {"const": True}, True),
        ({"const": 0}, {"enum": [False, "0"]}, True),
        ({"const": 1}, {"const": 1.0}, False),
        ({"enum": [[1]]}, {"enum": [[True]]}, True),
        ({"enum": [{"a": 0}]}, {"enum": [{"a": 0.0}]}, False),
        ({"const": 1}, {"enum": [1, 2]}, False),
        ({"enum": [1, 2]}, {"enum": [3, 4]}, True),
        ({"enum": [1, 2]}, {"enum": [3, 2]}, False),
        ({"const": 1}, {"type": "string"}, False),
        ({"enum": "a"}, {"const": 1}, False),
        ({"type": "string"}, {"type": "integer"}, True),
        ({"type": "number"}, {"type": "integer"}, False),
        ({"type": ["string", "null"]}, {"type": ["null"]}, False),
        ({"type": "string"}, {}, False),
        ({}, {"type": "string"}, False),
        (_require("a", 1), _require("a", 2), True),
        (_require("a", 1), _require("a", 1), False),
        (_require("a", 1), _require("b", 2), False),
        (_require("a", 1), _require("a", 2, required=[]), False),
        (_require("a", 1), _require("a", 2, type=["object", "null"]), False),
        (_require("a", 1, type=["object", "null"]), _require("a", 2), False),
        (_require("a", 1), _require("a", 2, properties={}), False),
        (_require("a", 1, properties={}), _require("a", 2), False),
    ],
)
def test_schema_alternatives_without_common_values_exclude_each_other(
    first: Any, second: Any, expected: bool
) -> None:
    """Alternatives that exclude each other can be written as `anyOf`."""
    assert exclude_each_other([first, second]) is expected
    assert exclude_each_other([first]) is True


def test_schema_alternatives_are_exclusive_only_if_each_pair_is() -> None:
    first, second = {"const": 1}, {"const": 2}
    assert exclude_each_other([first, second, {"const": 3}])
    assert not exclude_each_other([first, second, first])


@pytest.mark.parametrize(
    ("base", "members", "expected"),
    [
        ({}, [{"type": "string"}], None),
        ({}, [{"properties": ["a"]}], None),
        ({}, [], {"properties": {}}),
        ({}, [A, B], AB),
        ({}, [A, _close(B)], AB),
        ({}, [_close(A), _close(B)], _close(AB)),
        (_close(A), [A, B], _close(A)),
        (_close({}), [A], _close({"properties": {}})),
        (
            _close({}, {"type": "string", "title": "Any"}),
            [{"properties": {"a": {"maxLength": 2}, "b": {"type": "integer"}}}, A],
            _close(
                {
                    "properties": {
                        "a": {
                            "anyOf": [{"maxLength": 2}, {}],
                            "type": "string",
                            "title": "Any",
                        },
                        "b": {
                            "allOf": [
                                {"type": "integer"},
                                {"type": "string", "title": "Any"},
                            ]
                        },
                    }
                },
                {"type": "string", "title": "Any"},
            ),
        ),
        (
            _close({}, {"$ref": "#/x"}),
            [{"properties": {"a": True, "b": False, "c": {"$ref": "#/y"}}}],
            _close(
                {
                    "properties": {
                        "a": {"$ref": "#/x"},
                        "b": False,
                        "c": {"allOf": [{"$ref": "#/y"}, {"$ref": "#/x"}]},
                    }
                },
                {"$ref": "#/x"},
            ),
        ),
        (
            _close({"patternProperties": {"^a": {}, "(?<x>b)": {}}}, {"minimum": 1}),
            [{"properties": {"a": {"maximum": 2}}}],
            _close(
                {
                    "patternProperties": {"^a": {}, "(?<x>b)": {}},
                    "properties": {"a": {"maximum": 2}},
                },
                {"minimum": 1},
            ),
        ),
        (
            {"required": ["x"], "title": "Both"},
            [{"required": ["b", "a"]}, {"required": ["c", "a", "b"]}],
            {"required": ["x", "b", "a"], "title": "Both", "properties": {}},
        ),
        ({}, [{"required": ["a"]}, {}], {"properties": {}}),
        (
            {"properties": {"a": {"type": "string"}}},
            [{"properties": {"a": {"const": 1}}}],
            {"properties": {"a": {"type": "string"}}},
        ),
        (
            {},
            [
                {"properties": {"kind": {"const": "x", "description": "Which"}}},
                {"properties": {"kind": {"enum": ["y", "x"], "description": "Which"}}},
            ],
            {"properties": {"kind": {"description": "Which", "enum": ["x", "y"]}}},
        ),
        (
            {},
            [
                {"properties": {"kind": {"type": "string", "const": "x"}}},
                {"properties": {"kind": {"type": "string", "const": "y"}}},
            ],
            {"properties": {"kind": {"type": "string", "enum": ["x", "y"]}}},
        ),
        (
            {},
            [
                {"properties": {"kind": {"type": "string", "const": "x"}}},
                {"properties": {"kind": {"type": "integer", "const": 1}}},
            ],
            {"properties": {"kind": {"enum": ["x", 1]}}},
        ),
        (
            {},
            [
                {"properties": {"kind": {"const": "x", "description": "First."}}},
                {"properties": {"kind": {"const": "y", "default": "y"}}},
            ],
            {
                "properties": {
                    "kind": {
                        "anyOf": [
                            {"const": "x", "description": "First."},
                            {"const": "y", "default": "y"},
                        ]
                    }
                }
            },
        ),
        (
            {},
            [
                {"properties": {"v": {"const": 1}}},
                {"properties": {"v": {"const": True}}},
                {"properties": {"v": {"const": 1.0}}},
            ],
            {"properties": {"v": {"enum": [1, True]}}},
        ),
        (
            {},
            [
                {"properties": {"v": {"enum": [[0], {"a": 1}]}}},
                {"properties": {"v": {"enum": [[False], {"a": True}, {"a": 1.0}]}}},
            ],
            {"properties": {"v": {"enum": [[0], {"a": 1}, [False], {"a": True}]}}},
        ),
        (
            {},
            [
                {"properties": {"v": {"minimum": 1}}},
                {"properties": {"v": {"minimum": True}}},
            ],
            {"properties": {"v": {"anyOf": [{"minimum": 1}, {"minimum": True}]}}},
        ),
        (
            {},
            [
                {"properties": {"kind": {"const": "x"}}},
                {"properties": {"kind": {"type": "integer"}}},
                {"properties": {"kind": {"const": "x"}}},
            ],
            {"properties": {"kind": {"anyOf": [{"const": "x"}, {"type": "integer"}]}}},
        ),
        (
            {"additionalProperties": {"type": "string"}},
            [{"properties": {"v": False}}],
            {"additionalProperties": {"type": "string"}, "properties": {"v": False}},
        ),
    ],
)
def test_anyof_object_alternatives_are_merged_into_one_object_with_all_properties(
    base: Schema, members: list[Schema], expected: Schema | None
) -> None:
    merged = None if expected is None else {"type": "object", **expected}
    assert merge_alternatives(base, members) == merged
