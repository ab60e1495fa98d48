"""Whatever JSON stands where a schema belongs: findings, and never an exception."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties import tried
from tests.rules.layout import findings_of, lay_out
from toolcast.json_schema.dialects import KEYWORDS
from toolcast.json_schema.graph import JsonSchema
from toolcast.json_schema.schema_errors import ValueChecker, find_schema_problems
from toolcast.parsing.yaml_reader import ScalarError, parse_plain_scalar
from toolcast.rules.schema import analyze_pattern

WORDS = st.sampled_from(
    [
        "string",
        "object",
        "array",
        "null",
        "a",
        "b",
        "#",
        "#/$defs/a",
        "(",
        "a+",
        "#/properties/a",
        "file:///x",
        "^(a+)+$",
        "\\p{L}",
        "#/allOf/0",
    ]
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.just(1.5), WORDS)
KEYS = st.one_of(st.sampled_from(sorted(KEYWORDS - {"$schema"})), WORDS)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=5)
    ),
    max_leaves=20,
)
OBJECTS = st.dictionaries(KEYS, ANYTHING, max_size=6)
TOOL = {"name": "note", "summary": "Stores a note.", "handler": "handlers.work:work"}


@tried(300)
@given(parameters=OBJECTS, returns=OBJECTS, arguments=OBJECTS)
@example({}, {"$id": "string"}, {})
@example({}, {"$id": "//x", "properties": {"a": {"$ref": "#/$defs/a"}}}, {})
@example({}, {"$id": "%%"}, {})
@example({"$defs": {"a": {"$id": ".."}}}, {"$id": "#/a b"}, {})
@example({"properties": {"a": {"$id": "::", "default": 1}}}, {"$id": "http://["}, {})
def test_any_schema_gives_findings(
    parameters: dict[str, Any], returns: dict[str, Any], arguments: dict[str, Any]
) -> None:
    tool = {
        **TOOL,
        "parameters": parameters,
        "returns": returns,
        "examples": [{"arguments": arguments, "result": returns}],
    }
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        lay_out("", root)
        text = json.dumps(tool)
        (root / "specs/example/note.yaml").write_text(text, encoding="utf-8")
        for finding in findings_of(root):
            assert finding.location.file == "specs/example/note.yaml"
            assert finding.message


DIALECTS = {
    "http://json-schema.org/draft-04/schema#": jsonschema.Draft4Validator,
    "http://json-schema.org/draft-06/schema#": jsonschema.Draft6Validator,
    "http://json-schema.org/draft-07/schema#": jsonschema.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema.Draft202012Validator,
}


@pytest.mark.parametrize("address", DIALECTS, ids=lambda address: address[-20:])
@tried(100)
@given(value=OBJECTS)
def test_a_schema_is_valid_where_jsonschema_says_so(
    address: str, value: dict[str, Any]
) -> None:
    value = {**value, "$schema": address}
    found = list(find_schema_problems(JsonSchema(value)))
    metaschema: Any = DIALECTS[address].META_SCHEMA
    oracle = DIALECTS[address](metaschema)
    # Of these two the libraries have metaschemas that differ in `enum` and `writeOnly`.
    if "draft-04" not in address and "draft-07" not in address:
        # What is no address is told also where a dialect has no such keyword (`then`).
        others = [one for one in found if one[0][-1:] != ("$id",)]
        assert not others if oracle.is_valid(value) else found
    for path, message, _ in found:
        part: Any = value
        for step in path:
            part = part[step]
        assert message


@tried(200)
@given(schema=OBJECTS, value=ANYTHING)
def test_a_value_is_valid_where_jsonschema_says_so(
    schema: dict[str, Any], value: Any
) -> None:
    graph = JsonSchema(schema)
    if next(find_schema_problems(graph), None) or graph.references or graph.patterns:
        return
    for path, part in graph.subschemas.items():
        if next(find_schema_problems(JsonSchema(part)), None):
            continue  # at a keyword that only older drafts have
        found = ValueChecker(graph).problem(value, path)
        assert (not found) == jsonschema.Draft202012Validator(part).is_valid(value)


@tried(500)
@given(text=st.text(st.sampled_from("ab(|)*+?[]{}1,\\pLdw^$.<>"), max_size=20))
def test_any_text_is_judged_as_pattern(text: str) -> None:
    facts = analyze_pattern(text)
    assert not (facts.error and facts.is_ecma_only)


@pytest.mark.parametrize("depth", [2, 35, 36, 90])
@pytest.mark.parametrize("length", [1, 100, 199, 200, 10**9])
def test_deeply_nested_pattern_is_estimated(depth: int, length: int) -> None:
    nested = analyze_pattern("(" * depth + "a" + "+)" * depth)
    is_short = length < 200 and depth**length <= 1_000_000
    assert nested.is_quick(length) == is_short
    flat = analyze_pattern("a*" * depth)
    assert flat.is_quick(length) == ((length + 1) ** min(depth, 40) <= 1_000_000)


@tried(300)
@given(text=st.text(max_size=20))
def test_any_plain_word_has_one_meaning(text: str) -> None:
    try:
        value = parse_plain_scalar(text)
    except ScalarError:
        return
    assert value is None or isinstance(value, (str, int, float, bool))
