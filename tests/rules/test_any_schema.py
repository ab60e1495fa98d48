"""Whatever JSON stands where a schema belongs: findings, and never an exception."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rules.layout import findings_of, lay_out
from toolcast.json_schema.graph import JsonSchema
from toolcast.json_schema.metaschema import _is_plainly_valid, problems_with_schema
from toolcast.json_schema.patterns import pattern
from toolcast.reading.scalars import AmbiguousScalar, resolve_plain
from toolcast.rules.schema.unknown_keyword import KEYWORDS

WORDS = st.sampled_from(
    [
        *("string", "object", "array", "null", "a", "b", "#", "#/$defs/a", "(", "a+"),
        *("#/properties/a", "file:///x", "^(a+)+$", "\\p{L}", "#/allOf/0"),
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


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(parameters=OBJECTS, returns=OBJECTS, arguments=OBJECTS)
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
            assert finding.place.file == "specs/example/note.yaml"
            assert finding.message


@settings(max_examples=500, deadline=None)
@given(value=OBJECTS)
def test_plainly_valid_is_valid(value: dict[str, Any]) -> None:
    schema = JsonSchema(value)
    if _is_plainly_valid(schema):
        jsonschema.Draft202012Validator.check_schema(value)
        jsonschema.Draft7Validator.check_schema(value)
    is_valid = next(problems_with_schema(schema), None) is None
    assert is_valid == jsonschema.Draft202012Validator(
        jsonschema.Draft202012Validator.META_SCHEMA
    ).is_valid(value)


@settings(max_examples=500, deadline=None)
@given(text=st.text(st.sampled_from("ab(|)*+?[]{}1,\\pLdw^$.<>"), max_size=20))
def test_any_text_is_judged_as_pattern(text: str) -> None:
    facts = pattern(text)
    assert not (facts.error and facts.is_ecma_only)


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=20))
def test_any_plain_word_has_one_meaning(text: str) -> None:
    try:
        value = resolve_plain(text)
    except AmbiguousScalar:
        return
    assert value is None or isinstance(value, (str, int, float, bool))
