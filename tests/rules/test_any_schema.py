"""Arbitrary JSON as a schema: findings and no exception."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties import limit_examples
from tests.rules.layout import list_findings, write_example
from toolcast.json_schema.dialects import KEYWORDS
from toolcast.json_schema.graph import JsonSchema
from toolcast.json_schema.schema_errors import ValueChecker, find_schema_problems
from toolcast.parsing.yaml_reader import ScalarError, parse_plain_scalar
from toolcast.rules.schema import analyze_pattern

WORDS = st.sampled_from(
    "string object array null a b # #/$defs/a ( a+ #/properties/a file:///x ^(a+)+$"
    " \\p{L} #/allOf/0".split()
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.just(1.5), WORDS)
KEYS = st.one_of(st.sampled_from(sorted(KEYWORDS - {"$schema"})), WORDS)
ANY_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=5)
    ),
    max_leaves=20,
)
OBJECTS = st.dictionaries(KEYS, ANY_VALUES, max_size=6)
TOOL = {"name": "note", "summary": "Stores a note.", "handler": "handlers.work:work"}


@limit_examples(300)
@given(parameters=OBJECTS, returns=OBJECTS, arguments=OBJECTS)
@example({}, {"$id": "string"}, {})
@example({}, {"$id": "//x", "properties": {"a": {"$ref": "#/$defs/a"}}}, {})
@example({}, {"$id": "%%"}, {})
@example({"$defs": {"a": {"$id": ".."}}}, {"$id": "#/a b"}, {})
@example({"properties": {"a": {"$id": "::", "default": 1}}}, {"$id": "http://["}, {})
def test_spec_check_with_arbitrary_json_as_schema_raises_no_exception(
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
        write_example("", root)
        text = json.dumps(tool)
        (root / "specs/example/note.yaml").write_text(text, encoding="utf-8")
        for finding in list_findings(root):
            assert finding.location.file == "specs/example/note.yaml"
            assert finding.message


DIALECTS = {
    "http://json-schema.org/draft-04/schema#": jsonschema.Draft4Validator,
    "http://json-schema.org/draft-06/schema#": jsonschema.Draft6Validator,
    "http://json-schema.org/draft-07/schema#": jsonschema.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": jsonschema.Draft202012Validator,
}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect[-20:])
@limit_examples(100)
@given(value=OBJECTS)
def test_find_schema_problems_reports_exactly_what_the_metaschema_rejects(
    dialect: str, value: dict[str, Any]
) -> None:
    value = {**value, "$schema": dialect}
    problems = list(find_schema_problems(JsonSchema(value)))
    metaschema: Any = DIALECTS[dialect].META_SCHEMA
    oracle = DIALECTS[dialect](metaschema)
    # The libraries' metaschemas of these two drafts differ in `enum` and `writeOnly`.
    if "draft-04" not in dialect and "draft-07" not in dialect:
        # An invalid `$id` is reported even inside a keyword that the dialect does not have.
        others = [problem for problem in problems if problem[0][-1:] != ("$id",)]
        assert not others if oracle.is_valid(value) else problems
    for path, message, _ in problems:
        part: Any = value
        for step in path:
            part = part[step]
        assert message


@limit_examples(200)
@given(schema=OBJECTS, value=ANY_VALUES)
def test_value_checker_accepts_exactly_the_values_that_jsonschema_accepts(
    schema: dict[str, Any], value: Any
) -> None:
    graph = JsonSchema(schema)
    if next(find_schema_problems(graph), None) or graph.references or graph.patterns:
        return
    for path, part in graph.subschemas.items():
        if next(find_schema_problems(JsonSchema(part)), None):
            continue  # a keyword that only older drafts have
        problem = ValueChecker(graph).problem(value, path)
        assert (not problem) == jsonschema.Draft202012Validator(part).is_valid(value)


@limit_examples(500)
@given(text=st.text(st.sampled_from("ab(|)*+?[]{}1,\\pLdw^$.<>"), max_size=20))
def test_analyze_pattern_accepts_any_string_without_an_exception(text: str) -> None:
    facts = analyze_pattern(text)
    assert not (facts.error and facts.is_ecma_only)


@pytest.mark.parametrize(
    ("pattern", "is_slow"),
    [
        ("(a+)+", True),
        ("(a)+", False),
        ("(a?)+", False),
        ("(a{0,15})+", False),
        ("(a{0,16})+", True),
        ("(a+){0,15}", False),
        ("(a+){0,16}", True),
        ("(a+b)+", False),
        ("(a{2}b+)+", False),
        ("(a{0,3}b+)+", True),
        ("((?=a)b+)+", True),
        (r"(\ba+)+", True),
        ("(a|b+)+", True),
        ("((b|c)a+)+", False),
        ("((b|)a+)+", True),
        ("((b|cd+)a)+", False),
        ("((b|cd+)a|e+)+", True),
        ("(ab(cd|e+))+", False),
        ("(a+(bc|de))+", False),
        ("(a+(bc|))+", True),
        ("(a*(bc|d+))+", True),
    ],
)
def test_repeated_part_that_can_consist_of_one_repetition_is_slow(
    pattern: str, is_slow: bool
) -> None:
    assert analyze_pattern(pattern).is_slow is is_slow


@pytest.mark.parametrize("depth", [2, 35, 36, 90])
@pytest.mark.parametrize("length", [1, 100, 199, 200, 10**9])
def test_regular_expression_quickness_depends_on_quantifiers_and_string_length(
    depth: int, length: int
) -> None:
    """Allow nested quantifiers below 200 characters and 1 million steps."""
    nested_pattern = analyze_pattern("(" * depth + "a" + "+)" * depth)
    is_short = length < 200 and depth**length <= 1_000_000
    assert nested_pattern.is_quick(length) == is_short
    flat = analyze_pattern("a*" * depth)
    assert flat.is_quick(length) == ((length + 1) ** min(depth, 40) <= 1_000_000)


@limit_examples(300)
@given(text=st.text(max_size=20))
def test_any_plain_yaml_scalar_is_parsed_or_raises_scalar_error(text: str) -> None:
    try:
        value = parse_plain_scalar(text)
    except ScalarError:
        return
    assert value is None or isinstance(value, (str, int, float, bool))
