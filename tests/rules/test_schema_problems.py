"""Path, message and help of the problems of invalid schemas."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast.json_schema.graph import JsonSchema
from toolcast.json_schema.schema_errors import find_schema_problems

DRAFT_07 = {"$schema": "http://json-schema.org/draft-07/schema#"}
TYPE_LIST = "the types are `array`, `boolean`, `integer`, `null`, `number`, `object` and `string`"
NO_TYPE = "`type` must be a type or an array of different types"


@pytest.mark.parametrize(
    ("schema", "path", "message", "help_"),
    [
        (
            {"properties": []},
            ("properties",),
            "`properties` must be an object, not an array",
            "",
        ),
        (5, (), "the schema must be an object or a boolean, not the number 5", ""),
        (
            {"type": "strng"},
            ("type",),
            "`strng` is not a JSON Schema type",
            "did you mean `string`?",
        ),
        (
            {"type": ["string", "nmber"]},
            ("type", 1),
            "`nmber` is not a JSON Schema type",
            "did you mean `number`?",
        ),
        (
            {"type": "x" * 41},
            ("type",),
            f"`{'x' * 40}` is not a JSON Schema type",
            TYPE_LIST,
        ),
        ({"type": 5}, ("type",), NO_TYPE, ""),
        ({"type": []}, ("type",), NO_TYPE, ""),
        ({"type": ["null", "null"]}, ("type",), NO_TYPE, ""),
        # A property, definition or dependency that is named `type` is not the keyword.
        (
            {"properties": {"type": "object"}},
            ("properties", "type"),
            "`type` must be an object or a boolean, not a string",
            "",
        ),
        (
            {"properties": {"type": {"minLength": -1}}},
            ("properties", "type", "minLength"),
            "`minLength`: -1 is less than the minimum of 0",
            "",
        ),
        (
            {**DRAFT_07, "dependencies": {"type": 5}},
            ("dependencies", "type"),
            "`type`: 5 is not valid under any of the given schemas",
            "",
        ),
        (
            {"$ref": "#/x", "x": 5},
            ("x",),
            "the target of a `$ref` must be an object or a boolean, not the number 5",
            "",
        ),
        (
            {"anyOf": [{}, 5]},
            ("anyOf", 1),
            "an entry of `anyOf` must be an object or a boolean, not the number 5",
            "",
        ),
        # Draft-04 had these values.
        (
            {"items": {"minimum": 0, "exclusiveMinimum": True}},
            ("items", "exclusiveMinimum"),
            "`exclusiveMinimum` must be a number, not the boolean true",
            "set `exclusiveMinimum` to the number, and remove `minimum`",
        ),
        (
            {"exclusiveMaximum": False},
            ("exclusiveMaximum",),
            "`exclusiveMaximum` must be a number, not the boolean false",
            "",
        ),
        (
            {"properties": {"a": {"required": True}}},
            ("properties", "a", "required"),
            "`required` must be an array, not the boolean true",
            "list the names in `required` of the object that defines the properties",
        ),
        (
            {"required": 5},
            ("required",),
            "`required` must be an array, not the number 5",
            "",
        ),
        (
            {"$id": "a b"},
            ("$id",),
            "`$id` is not a URI reference",
            "remove `$id`: the schema of a tool does not need it",
        ),
    ],
)
def test_invalid_schema_has_one_problem_with_its_path_message_and_help(
    schema: Any, path: tuple[Any, ...], message: str, help_: str
) -> None:
    assert list(find_schema_problems(JsonSchema(schema))) == [(path, message, help_)]
