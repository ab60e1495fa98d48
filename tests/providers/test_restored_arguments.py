"""Arguments from a model, restored to the spec's names and without extra nulls."""

from __future__ import annotations

import re
from typing import Any

import pytest

from toolcast_runtime.providers.argument_restoration import restore_arguments
from toolcast_runtime.providers.dialect import Dialect
from toolcast_runtime.providers.schema_rendering import render_schema

Schema = dict[str, Any]
ALL_REQUIRED = Dialect(is_closed=True, is_required_whole=True)
RENAMED = Dialect(property_names=re.compile("[a-z_]{1,8}"))
S: Schema = {"type": "string"}
NULLABLE: Schema = {"type": ["string", "null"]}


def _make_object(*required: str, **properties: Any) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
    }


PAIR = _make_object("a", a=NULLABLE, b=S)
DAY = _make_object("kind", "at", kind={"type": "string", "const": "day"}, at=NULLABLE)
TEXT = _make_object("kind", kind={"type": "string", "const": "text"}, at=S)


@pytest.mark.parametrize(
    ("schema", "sent", "restored"),
    [
        (PAIR, {"a": None, "b": None}, {"a": None}),
        (PAIR, {"a": "x", "b": "y"}, {"a": "x", "b": "y"}),
        (PAIR, {"a": None, "b": None, "c": None}, {"a": None, "c": None}),
        (PAIR, {}, {}),
        (_make_object("p", p=PAIR), {"p": {"b": None}}, {"p": {}}),
        (_make_object("p", p=PAIR), {"p": None}, {"p": None}),
        (
            _make_object("l", l={"type": "array", "items": PAIR}),
            {"l": [{"a": None, "b": None}, {"b": "x"}, 1]},
            {"l": [{"a": None}, {"b": "x"}, 1]},
        ),
        # The alternative that accepts the value decides; in only one of them, `at` can
        # be null.
        (
            _make_object("e", e={"anyOf": [TEXT, DAY]}),
            {"e": {"kind": "day", "at": None}},
            {"e": {"kind": "day", "at": None}},
        ),
        (
            _make_object("e", e={"anyOf": [DAY, TEXT]}),
            {"e": {"kind": "text", "at": None}},
            {"e": {"kind": "text"}},
        ),
        (
            _make_object("e", e={"anyOf": [DAY, TEXT]}),
            {"e": {"kind": "none", "at": None}},
            {"e": {"kind": "none", "at": None}},
        ),
        (
            _make_object("e", e={"anyOf": [S, TEXT]}),
            {"e": {"kind": "none", "at": None}},
            {"e": {"kind": "none"}},
        ),
        (
            _make_object("e", e={"anyOf": [S, {"$ref": "#/$defs/text"}]}),
            {"e": {"kind": "text", "at": None}},
            {"e": {"kind": "text"}},
        ),
        (
            _make_object("e", e={"anyOf": [S, {"$ref": "#/$defs/again"}]}),
            {"e": {"kind": "text", "at": None}},
            {"e": {"kind": "text"}},
        ),
        (
            _make_object("e", e={"anyOf": [S, {"anyOf": [TEXT, DAY]}]}),
            {"e": {"kind": "text", "at": None}},
            {"e": {"kind": "text"}},
        ),
        # No alternative accepts the value, but only one has its type.
        (
            _make_object("e", e={"anyOf": [{"$ref": "#/$defs/same_name"}, TEXT]}),
            {"e": {"kind": "none", "at": None}},
            {"e": {"kind": "none"}},
        ),
    ],
)
def test_null_in_model_arguments_for_an_optional_property_is_removed(
    schema: Schema, sent: Any, restored: Any
) -> None:
    definitions = {
        "text": TEXT,
        "again": {"$ref": "#/$defs/text"},
        "name": {**S, "minLength": 1},
        "same_name": {"$ref": "#/$defs/name"},
    }
    rendered = render_schema({**schema, "$defs": definitions}, ALL_REQUIRED, "do")
    before = repr(sent)
    assert restore_arguments(sent, rendered) == restored
    assert repr(sent) == before


@pytest.mark.parametrize(
    ("schema", "sent", "restored"),
    [
        ({"properties": {"A b": {}}}, {"__b": 1, "x": 2}, {"A b": 1, "x": 2}),
        # A property that no schema declares at this path keeps its name.
        (
            {"properties": {"in": {"properties": {"A b": {}}}}},
            {"in": {"__b": {"__b": 1}}, "__b": 2},
            {"in": {"A b": {"__b": 1}}, "__b": 2},
        ),
        (
            {"properties": {"l": {"items": {"properties": {"A b": {}}}}}},
            {"l": [{"__b": 1}, 2, [{"__b": 3}]]},
            {"l": [{"A b": 1}, 2, [{"__b": 3}]]},
        ),
        (
            {"properties": {"l": {"prefixItems": [{}, {"properties": {"A b": {}}}]}}},
            {"l": [{"__b": 1}, {"__b": 2}, {"__b": 3}]},
            {"l": [{"__b": 1}, {"A b": 2}, {"__b": 3}]},
        ),
        (
            {"properties": {"l": {"contains": {"properties": {"A b": {}}}}}},
            {"l": [{"__b": 1}]},
            {"l": [{"A b": 1}]},
        ),
        (
            {
                "properties": {"o": {"additionalProperties": {"$ref": "#/$defs/d"}}},
                "$defs": {"d": {"properties": {"A b": {}}}},
            },
            {"o": {"x": {"__b": 1}}},
            {"o": {"x": {"A b": 1}}},
        ),
        (
            {"properties": {"e": {"enum": [{"A b": 1}, 2]}, "A b": {}}},
            {"e": {"__b": 1}},
            {"e": {"A b": 1}},
        ),
        (
            {"properties": {"e": {"not": {"properties": {"A b": {}}}}}},
            {"e": {"__b": 1}},
            {"e": {"A b": 1}},
        ),
        (
            {"properties": {"A b": {"$ref": "#"}}},
            {"__b": {"__b": 1}},
            {"A b": {"A b": 1}},
        ),
    ],
)
def test_property_names_in_model_arguments_are_restored_to_the_spec_property_names(
    schema: Schema, sent: Any, restored: Any
) -> None:
    rendered = render_schema({"type": "object", **schema}, RENAMED, "do")
    assert restore_arguments(sent, rendered) == restored
