"""Schemas as Letta stores them: the package's prediction equals the server's code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letta.tests.fake_letta.schemas import (
    build_stored_schema,
    compute_health,
    normalize_schema,
)
from tests.repository import ROOT
from toolcast_letta.schemas.health import list_schema_problems
from toolcast_letta.schemas.stored import build_stored_parameters, remove_injected

CORPUS = sorted((ROOT / "tests" / "corpus" / "mcp").glob("*.json"))


def list_tools_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and "inputSchema" in value:
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from list_tools_in(inner)


def assert_prediction_is_correct(schema: dict[str, Any]) -> None:
    tool = {"name": "tool", "description": "d", "inputSchema": schema}
    stored = build_stored_schema(tool)["parameters"]
    ours = build_stored_parameters(schema)
    assert remove_injected(stored) == ours
    # Letta returns normalized schemas for live tools; they must have the same result.
    shown = normalize_schema(schema)
    assert build_stored_parameters(shown) == ours
    # Letta validates the normalized schema before it inlines references.
    invalid = compute_health(shown)[0] == "INVALID"
    assert bool(list_schema_problems(schema)) == invalid


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.stem)
def test_letta_stored_schemas_and_problems_are_predicted_for_real_mcp_servers(
    file: Path,
) -> None:
    """Compare predicted schemas with the results of Letta's own code."""
    tools = list(list_tools_in(json.loads(file.read_text(encoding="utf-8"))))
    assert tools
    for tool in tools:
        assert_prediction_is_correct(tool["inputSchema"])


def nodes(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3)
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries(
            {"type": st.just("object")},
            optional={
                "properties": named,
                "required": st.lists(st.sampled_from(["a", "b"]), max_size=2),
                "additionalProperties": st.booleans(),
            },
        ),
    )


LEAVES = st.one_of(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "format": "date"},
            {"type": ["string", "null"]},
            {"enum": ["x"]},
            {"$ref": "#/$defs/Place"},
            {"$ref": "#/$defs/Nowhere"},
            {"$ref": "#/$defs/Loop", "description": "Round and round."},
        ]
    )
)


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["a", "b", "c"]),
        st.recursive(LEAVES, nodes, max_leaves=8),
        max_size=3,
    ),
    st.lists(st.sampled_from(["a", "b"]), unique=True),
)
def test_letta_stored_schemas_and_problems_are_predicted_for_generated_schemas(
    properties: Any, required: list[str]
) -> None:
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "$defs": {
            "Place": {"type": "object", "properties": {"x": {"type": "number"}}},
            "Loop": {"type": "array", "items": {"$ref": "#/$defs/Loop"}},
        },
    }
    assert_prediction_is_correct(schema)
