"""What we take Letta to make of a schema is what it makes: over real servers' tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from letta.tests.fake_letta.schemas import health, normalized, stored_schema
from tests.repository import ROOT
from toolcast_letta.schemas.health import list_schema_problems
from toolcast_letta.schemas.stored import build_stored_parameters, remove_injected

CORPUS = sorted((ROOT / "tests" / "corpus" / "mcp").glob("*.json"))


def tools_of(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict) and "inputSchema" in value:
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from tools_of(inner)


def agree(schema: dict[str, Any]) -> None:
    tool = {"name": "tool", "description": "d", "inputSchema": schema}
    stored = stored_schema(tool)["parameters"]
    ours = build_stored_parameters(schema)
    assert remove_injected(stored) == ours
    # What Letta shows of a live tool is normalized already; it must come to the same.
    shown = normalized(schema)
    assert build_stored_parameters(shown) == ours
    # Letta decides on what it has normalized, before references are replaced.
    invalid = health(shown)[0] == "INVALID"
    assert bool(list_schema_problems(schema)) == invalid


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.stem)
def test_schemas_of_real_servers(file: Path) -> None:
    tools = list(tools_of(json.loads(file.read_text(encoding="utf-8"))))
    assert tools
    for tool in tools:
        agree(tool["inputSchema"])


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
def test_schemas_of_every_kind(properties: Any, required: list[str]) -> None:
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "$defs": {
            "Place": {"type": "object", "properties": {"x": {"type": "number"}}},
            "Loop": {"type": "array", "items": {"$ref": "#/$defs/Loop"}},
        },
    }
    agree(schema)
