"""JSON Schema `$ref` with characters that URIs forbid: resolved, listed verbatim."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.module_graph import ROOT
from toolcast.importing.source_file import parse_source
from toolcast.json_schema.graph import JsonSchema
from toolcast.model.loading import load_workspace
from toolcast_runtime.core.validation.checker import Checker
from toolcast_runtime.core.validation.compiled import PartValidators, build_validator
from toolcast_runtime.core.validation.references import encode_references

DRAFT_04 = "http://json-schema.org/draft-04/schema#"
LISTS = sorted((ROOT / "tests/corpus/mcp").glob("*.json"))
NAMES = (
    *("Page<User>", "Box[int]", "a b", "Größe", "🙂", "100%", "a\\b", "{x}|y^`", "#1"),
    *('quoted"name', "Map<str,List[Ünïcode | None]>"),
)


@pytest.mark.parametrize("name", [*NAMES, "a~b/c", "a%41"])
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
@pytest.mark.parametrize("is_encoded", [False, True], ids=["plain", "encoded"])
def test_refs_to_definitions_with_characters_that_uris_forbid_resolve(
    name: str, keyword: str, is_encoded: bool
) -> None:
    step = name.replace("~", "~0").replace("/", "~1")
    step = quote(step) if is_encoded else step.replace("%4", "%254")
    schema = {
        "properties": {"p": {keyword: f"#/$defs/{step}"}},
        "$defs": {name: {"type": "integer"}},
    }
    assert JsonSchema(schema).is_sound
    assert Checker(schema).problems({"p": 1}) == []
    assert Checker(schema).problems({"p": "x"})
    part = PartValidators(schema).get_validator(("properties", "p"))
    assert part.is_valid(1)
    assert not part.is_valid("x")


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/x y/z", "x y": {"z": {"items": {"$ref": "#/x y/w"}, "w": {}}}},
        {"allOf": [{"not": {"$ref": "#/$defs/a b"}}], "$defs": {"a b": False}},
        {"$schema": DRAFT_04, "$ref": "#/definitions/é"},
    ],
)
def test_schema_with_unencoded_refs_compiles_unchanged(schema: dict[str, Any]) -> None:
    schema.setdefault("x y", {}).setdefault("w", {})
    schema.setdefault("definitions", {"é": {}})
    before = repr(schema)
    build_validator(schema)
    assert repr(schema) == before


@pytest.mark.parametrize("keyword", ["const", "default", "enum", "examples"])
def test_ref_inside_const_default_enum_or_examples_is_not_encoded(keyword: str) -> None:
    data = {"$ref": "#/a b"}
    value = [data] if keyword in ("enum", "examples") else data
    schema = {
        "properties": {"p": {keyword: value}, "q": {"$ref": "#/$defs/a b"}},
        "$defs": {"a b": {}},
    }
    assert encode_references(schema)["properties"]["p"] == {keyword: value}
    if keyword in ("const", "enum"):
        assert Checker(schema).problems({"p": data}) == []


def test_encode_references_returns_a_schema_without_unencoded_refs_uncopied() -> None:
    schema = {"$ref": "#/$defs/a%20b/~1?x", "$defs": {}}
    assert encode_references(schema) is schema


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_all_schemas_in_real_mcp_server_tool_lists_compile(path: Path) -> None:
    for tool in parse_source(path.read_bytes(), path.name).listing.tools:
        for key in ("inputSchema", "outputSchema"):
            if key in tool:
                Checker(tool[key], asserts_formats=True)


def test_all_the_repositorys_own_tool_schemas_compile() -> None:
    workspace = load_workspace(str(ROOT)).workspace
    assert workspace is not None
    tools = [tool for toolset in workspace.toolsets for tool in toolset.tools]
    assert len(tools) > 50
    for tool in tools:
        for schema in (tool.listed_parameters, tool.listed_returns):
            if schema is not None:
                Checker(schema, asserts_formats=True)
