"""Names in a narrower grammar: what becomes of each, and wherever a schema says them."""

from __future__ import annotations

import re
from typing import Any

from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import ProviderLists
from toolcast_runtime.providers.provider_names import (
    collisions,
    named_properties,
    new_names,
    provider_names,
    rename_properties,
    renamed_everywhere,
    renamed_keys,
)

GRAMMAR = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")


def _named(*names: str, taken: frozenset[str] = frozenset()) -> list[str]:
    return list(provider_names(names, GRAMMAR, taken).values())


def test_what_becomes_of_a_name() -> None:
    assert provider_names(["a b", "ä"], None) == {"a b": "a b", "ä": "ä"}
    for name, new in (
        ("plain", "plain"),
        ("a b.c", "a_b_c"),
        ("1st", "_1st"),
        ("1.st", "_1_st"),
        ("é", "_"),
        ("", "_"),
        ("x" * 64, "x" * 64),
        ("." + "x" * 63, "_" + "x" * 63),
        ("." + "x" * 64, "_" + "x" * 56 + "_d0890a"),
    ):
        assert _named(name) == [new], name


def test_two_names_stay_two() -> None:
    assert _named("a_b", "a b") == ["a_b", "a_b_c8687a"]
    assert _named("a.b", "a b") == ["a_b_2e7336", "a_b_c8687a"]
    assert _named("own", taken=frozenset(["own"])) == ["own_5b3975"]
    assert collisions(["a_b", "a b", "a.b", "c", "d e"], GRAMMAR) == [
        ["a_b", "a b", "a.b"]
    ]
    assert collisions(["a b", "a_b"], None) == []


SCHEMA: dict[str, Any] = {
    "properties": {"a b": {"enum": [{"in it": 1}]}, "c": {}},
    "required": ["a b", "more of", 7],
    "dependentRequired": {"a b": ["if so"]},
    "dependencies": {"c": ["or so"], "d d": {}},
    "const": {"a b": 1, "as it": 2},
}


def test_names_are_those_that_a_schema_declares() -> None:
    assert new_names(SCHEMA, None) == {}
    assert new_names(SCHEMA, GRAMMAR) == {"a b": "a_b"}
    assert list(named_properties(SCHEMA)) == [
        "a b",
        "c",
        "a b",
        "more of",
        "a b",
        "if so",
        "c",
        "or so",
        "d d",
    ]
    # What is only named elsewhere has no name of the provider's, and takes none away.
    for place in ({"required": ["a_b"]}, {"const": {"a_b": 1}}, {"enum": [{"a_b": 1}]}):
        found = new_names({"properties": {"a b": {}}, **place}, GRAMMAR)
        assert found == {"a b": "a_b_c8687a"}


def test_a_schema_by_other_names() -> None:
    names = {"a b": "x", "if so": "y", "in it": "z"}
    here = rename_properties(
        {**SCHEMA, "default": {"a b": [{"if so": 1}]}, "title": "a b"}, names
    )
    assert here == {
        "properties": {"x": {"enum": [{"in it": 1}]}, "c": {}},
        "required": ["x", "more of", 7],
        "dependentRequired": {"x": ["y"]},
        "dependencies": {"c": ["or so"], "d d": {}},
        "const": {"x": 1, "as it": 2},
        "default": {"x": [{"y": 1}]},
        "title": "a b",
    }
    everywhere = renamed_everywhere({"allOf": [SCHEMA, "a b"]}, names)
    assert everywhere["allOf"][0]["properties"] == {"x": {"enum": [{"z": 1}]}, "c": {}}
    assert everywhere["allOf"][1] == "a b"
    assert rename_properties({"properties": 1, "required": "a b"}, names) == {
        "properties": 1,
        "required": "a b",
    }
    assert renamed_keys(({"a b": "a b"}, "a b"), names) == [{"x": "a b"}, "a b"]


class _Served:
    """A registry with a tool for each pair of targets that it is in."""

    async def list_tools(self, client: str | None) -> list[Tool]:
        return self.tools(client)

    def tools(self, client: str | None) -> list[Tool]:
        assert client == "staff"
        return [
            Tool(
                "-".join(left) or "both",
                "",
                "",
                {"inputSchema": {"type": "object", "additionalProperties": False}},
                exclusions=dict.fromkeys(left, "x"),
            )
            for left in ([], ["mcp"], ["providers"], ["mcp", "providers"])
        ]


def test_what_a_provider_calls_by_itself_is_served_and_listed() -> None:
    lists = ProviderLists(_Served())  # type: ignore[arg-type]
    (server,) = lists.openai_mcp("notes", "https://example.com", "staff")
    assert server["allowed_tools"] == ["both"]
    (toolset,) = lists.anthropic_toolset("notes", "staff")
    assert toolset["configs"] == {"both": {"enabled": True}}


async def test_a_list_is_made_for_what_was_declared_unless_it_is_asked_otherwise() -> (
    None
):
    declared = {"openai-chat": {"strict": True}}
    lists = ProviderLists(_Served(), options=declared)  # type: ignore[arg-type]
    listed = await lists.tools("openai-chat", "staff")
    names = [one.tool.name for one in listed.rendered]
    assert names == ["both", "mcp"]
    assert [loss.keyword for loss in listed.losses].count("strict") == 0
    assert all(one.is_strict for one in listed.rendered)
    loose = await lists.tools("openai-chat", "staff", strict=False)
    assert not any(one.is_strict for one in loose.rendered)
    other = await lists.tools("openai-responses", "staff")
    assert not any(one.is_strict for one in other.rendered)
