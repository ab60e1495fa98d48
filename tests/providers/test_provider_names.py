"""Names of tools and properties, converted to a provider's grammar."""

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


def _convert_names(*names: str, taken: frozenset[str] = frozenset()) -> list[str]:
    return list(provider_names(names, GRAMMAR, taken).values())


def test_tool_name_is_converted_to_the_provider_name_grammar() -> None:
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
        assert _convert_names(name) == [new], name


def test_tool_names_that_become_equal_for_a_provider_get_a_hash_suffix() -> None:
    assert _convert_names("a_b", "a b") == ["a_b", "a_b_c8687a"]
    assert _convert_names("a.b", "a b") == ["a_b_2e7336", "a_b_c8687a"]
    assert _convert_names("own", taken=frozenset(["own"])) == ["own_5b3975"]
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


def test_only_declared_schema_properties_get_provider_names() -> None:
    """Names in `required`, `const` and `enum` are neither renamed nor reserved."""
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
    # Names in `required`, `const` and `enum` get no new name, and do not reserve one.
    for keyword in (
        {"required": ["a_b"]},
        {"const": {"a_b": 1}},
        {"enum": [{"a_b": 1}]},
    ):
        names = new_names({"properties": {"a b": {}}, **keyword}, GRAMMAR)
        assert names == {"a b": "a_b_c8687a"}


def test_rename_properties_renames_declared_required_and_constant_keys() -> None:
    """Other text that equals a property name, such as a title, is unchanged."""
    names = {"a b": "x", "if so": "y", "in it": "z"}
    renamed = rename_properties(
        {**SCHEMA, "default": {"a b": [{"if so": 1}]}, "title": "a b"}, names
    )
    assert renamed == {
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


class _Registry:
    """A registry with a tool for each combination of excluded targets."""

    async def list_tools(self, client: str | None) -> list[Tool]:
        return self.tools(client)

    def tools(self, client: str | None) -> list[Tool]:
        assert client == "staff"
        return [
            Tool(
                "-".join(excluded) or "both",
                "",
                "",
                {"inputSchema": {"type": "object", "additionalProperties": False}},
                exclusions=dict.fromkeys(excluded, "x"),
            )
            for excluded in ([], ["mcp"], ["providers"], ["mcp", "providers"])
        ]


def test_mcp_server_entry_omits_tools_excluded_from_mcp_or_providers() -> None:
    """It is the entry in a request to OpenAI or Anthropic."""
    lists = ProviderLists(_Registry())  # type: ignore[arg-type]
    (server,) = lists.openai_mcp("notes", "https://example.com", "staff")
    assert server["allowed_tools"] == ["both"]
    (toolset,) = lists.anthropic_toolset("notes", "staff")
    assert toolset["configs"] == {"both": {"enabled": True}}


async def test_provider_tool_list_options_default_to_the_toolset_options() -> None:
    declared = {"openai-chat": {"strict": True}}
    lists = ProviderLists(_Registry(), options=declared)  # type: ignore[arg-type]
    provider_tools = await lists.tools("openai-chat", "staff")
    names = [rendered.tool.name for rendered in provider_tools.rendered]
    assert names == ["both", "mcp"]
    assert [loss.keyword for loss in provider_tools.losses].count("strict") == 0
    assert all(rendered.is_strict for rendered in provider_tools.rendered)
    not_strict = await lists.tools("openai-chat", "staff", strict=False)
    assert not any(rendered.is_strict for rendered in not_strict.rendered)
    other = await lists.tools("openai-responses", "staff")
    assert not any(rendered.is_strict for rendered in other.rendered)
