"""The table of keywords that each provider accepts, and schemas rendered by it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

import pytest

from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.core.validation.references import list_subschemas
from toolcast_runtime.providers import PROVIDERS, ListOptions, provider_named
from toolcast_runtime.providers.dialect import KNOWN, has_larger_integer
from toolcast_runtime.providers.dialect_table import Behavior, build_dialect, read_table
from toolcast_runtime.providers.model_provider import render_tools
from toolcast_runtime.providers.schema_rendering import RenderedSchema

TABLE = read_table()
MAX_INTEGER = 2**53 - 1
# Both OpenAI APIs have the same dialects.
FORMS = [
    (name, is_strict)
    for name in PROVIDERS
    for is_strict in (False, True)
    if name != "openai-responses"
    and (not is_strict or provider_named(name).strict is not None)
]


def parameter(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"a": schema},
        "required": ["a"],
        "additionalProperties": False,
    }


def _root(keywords: Mapping[str, Any]) -> dict[str, Any]:
    return {**parameter({"type": "string"}), **keywords}


_NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
TEXT = {"type": "string"}
_MAP = {"type": "object", "additionalProperties": {"type": "string"}}
EXAMPLES: dict[tuple[str, str], Any] = {
    **{(k, ""): parameter({"type": "string", k: "a"}) for k in ("title", "format")},
    ("default", ""): parameter({"type": "string", "default": "a"}),
    ("examples", ""): parameter({"type": "string", "examples": ["a"]}),
    ("deprecated", ""): parameter({"type": "string", "deprecated": True}),
    ("const", ""): parameter({"const": "a"}),
    ("pattern", ""): parameter({"type": "string", "pattern": "^a$"}),
    **{
        (k, ""): parameter({"type": "string", k: 2}) for k in ("minLength", "maxLength")
    },
    **{
        (k, ""): parameter({"type": "number", k: 2})
        for k in (
            "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
        )
    },
    **{
        (k, ""): parameter({"type": "array", "items": TEXT, k: 1})
        for k in ("minItems", "maxItems")
    },
    ("uniqueItems", ""): parameter(
        {"type": "array", "items": TEXT, "uniqueItems": True}
    ),
    ("contains", ""): parameter({"type": "array", "items": TEXT, "contains": TEXT}),
    ("prefixItems", ""): parameter({"type": "array", "prefixItems": [TEXT]}),
    ("patternProperties", ""): parameter(
        {"type": "object", "patternProperties": {"^a": TEXT}}
    ),
    ("propertyNames", ""): parameter({**_MAP, "propertyNames": {"maxLength": 3}}),
    ("minProperties", ""): parameter({**_MAP, "minProperties": 1}),
    ("maxProperties", ""): parameter({**_MAP, "maxProperties": 1}),
    ("dependentRequired", ""): _root({"dependentRequired": {"a": ["a"]}}),
    ("dependentSchemas", ""): _root({"dependentSchemas": {"a": {"required": ["a"]}}}),
    ("anyOf", ""): parameter({"anyOf": [TEXT, {"type": "integer"}]}),
    ("oneOf", ""): parameter({"oneOf": [TEXT, {"type": "integer"}]}),
    ("allOf", ""): parameter({"allOf": [TEXT, {"minLength": 1}]}),
    ("not", ""): parameter({"type": "string", "not": {"const": "a"}}),
    ("if", ""): _root({"if": {"required": ["a"]}, "then": {"required": ["a"]}}),
    ("unevaluatedProperties", ""): parameter(
        {"type": "object", "properties": {"b": TEXT}, "unevaluatedProperties": False}
    ),
    ("unevaluatedItems", ""): parameter(
        {"type": "array", "prefixItems": [TEXT], "unevaluatedItems": False}
    ),
    ("other keywords", ""): parameter({"type": "string", "x-unit": "km"}),
    **{
        (k, "at the root"): _root({k: [{"required": ["a"]}, {"required": ["b"]}]})
        for k in ("anyOf", "oneOf", "allOf")
    },
    ("enum", "at the root"): _root({"enum": [{"a": "b"}]}),
    ("const", "at the root"): _root({"const": {"a": "b"}}),
    ("not", "at the root"): _root({"not": {"required": ["b"]}}),
    ("type", "several types"): parameter({"type": ["string", "null"]}),
    ("enum", "values of type boolean"): parameter({"enum": [True]}),
    ("enum", "values of type object"): parameter({"enum": [{"b": 1}]}),
    ("enum", "values of type array"): parameter({"enum": [[1]]}),
    ("format", "uri"): parameter({"type": "string", "format": "uri"}),
    ("format", "other values"): parameter({"type": "string", "format": "iri"}),
    ("pattern", r"with look-around, back references, \b or \B"): parameter(
        {"type": "string", "pattern": "^(?!a)"}
    ),
    ("pattern", "that Python's re cannot compile"): parameter(
        {"type": "string", "pattern": r"^\p{L}$"}
    ),
    ("minItems", "above 1"): parameter({"type": "array", "items": TEXT, "minItems": 2}),
    ("$ref", "to a schema that contains itself"): {
        **parameter({"$ref": "#/$defs/node"}),
        "$defs": {"node": _NODE},
    },
    ("$ref", "next to other keywords"): {
        **parameter({"$ref": "#/$defs/t", "description": "A."}),
        "$defs": {"t": TEXT},
    },
    ("additionalProperties", "missing, true or a schema"): parameter(_MAP),
    ("items", "missing in an array"): parameter({"type": "array"}),
    ("properties", "names other than [a-zA-Z0-9_.-]{1,64}"): parameter(
        {"type": "object", "properties": {"b c": TEXT}}
    ),
    ("any keyword", "integers beyond 9007199254740991"): parameter(
        {"type": "integer", "maximum": 2**63 - 1}
    ),
    ("any keyword", "integers beyond 9007199254740990"): parameter(
        {"type": "integer", "maximum": MAX_INTEGER}
    ),
}
"""A schema for each row that a provider does not accept."""


def render(form: tuple[str, bool], schema: Mapping[str, Any]) -> RenderedSchema:
    """Render a tool in a provider's format, with the losses of the whole tool."""
    tool = Tool("do", "", "Does it.", {"name": "do", "inputSchema": schema})
    options = ListOptions(["do"] if form[1] else False)
    tool_list = render_tools(provider_named(form[0]), [tool], options)
    rendered = tool_list.rendered[0].parameters
    return RenderedSchema(rendered.schema, tool_list.losses)


def _list_schemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, Mapping):
        yield schema
        for _, subschema in list_subschemas(schema):
            yield from _list_schemas(subschema)


def test_openai_chat_and_responses_have_equal_dialects() -> None:
    chat, responses = map(provider_named, ("openai-chat", "openai-responses"))
    assert (chat.dialect, chat.strict) == (responses.dialect, responses.strict)


def test_keyword_table_has_a_behavior_and_a_dated_source_in_each_cell() -> None:
    rows = next(iter(TABLE.values())).keys()
    assert len(TABLE) == 9
    for dialect, cells in TABLE.items():
        assert cells.keys() == rows, dialect
        for key, (behavior, source) in cells.items():
            assert behavior in Behavior, key
            assert re.search("https://|package|reference|AWS", source.source), key
            assert not re.search(r"\bTODO\b", source.source), key
            assert date(2025, 1, 1) <= date.fromisoformat(source.date), (dialect, key)


def test_provider_keyword_table_has_a_row_for_every_json_schema_keyword() -> None:
    keywords = {keyword for keyword, values in TABLE["gemini"] if not values}
    assert keywords == KNOWN | {"other keywords"}


def test_provider_dialect_accepts_no_keyword_that_the_keyword_table_rejects() -> None:
    for name, cells in TABLE.items():
        dialect = build_dialect(name)
        for (keyword, values), cell in cells.items():
            if cell.behavior is Behavior.ACCEPTS:
                continue
            if not values and keyword != "other keywords":
                assert not dialect.accepts(keyword), (name, keyword)
            elif values == "at the root":
                assert not dialect.accepts(keyword, at_root=True), (name, keyword)


@pytest.mark.parametrize("key", EXAMPLES, ids=lambda key: "-".join(key))
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form[0]}-{form[1]}")
def test_rendered_schema_has_no_keyword_that_the_provider_does_not_accept(
    form: tuple[str, bool], key: tuple[str, str]
) -> None:
    name = form[0].removesuffix("-chat") + ("-strict" if form[1] else "")
    if TABLE[name][key].behavior is Behavior.ACCEPTS:
        return
    rendered = render(form, EXAMPLES[key])
    if any("no strict schema" in loss.message for loss in rendered.losses):
        return  # The tool is not strict, and the non-strict format has its own column.
    keyword, values = key
    for schema in _list_schemas(rendered.schema):
        if not values:
            assert keyword not in schema
            assert keyword != "other keywords" or "x-unit" not in schema
    if values == "at the root":
        assert keyword not in rendered.schema
    if keyword == "any keyword":
        limit = int(values.rpartition(" ")[2])
        assert not has_larger_integer(rendered.schema, limit)
    if values:
        assert rendered.schema != EXAMPLES[key]


def test_keyword_values_that_fail_a_provider_request_have_an_example_schema() -> None:
    """Each such cell of the keyword table has an entry in this module's `EXAMPLES`."""
    implied = {"at the root", "in a parameter", "missing", "without every property"}
    for cells in TABLE.values():
        for key, cell in cells.items():
            is_refused = cell.behavior is Behavior.REFUSES_REQUEST
            has_names = key[1].startswith("names other than")
            if is_refused and key[1] and key[1] not in implied and not has_names:
                assert key in EXAMPLES
