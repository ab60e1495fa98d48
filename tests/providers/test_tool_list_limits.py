"""Limits, options and fields of each provider's tool lists."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from toolcast_runtime.core.definitions.tool import Confirm, Tool
from toolcast_runtime.providers import (
    PROVIDERS,
    ListOptions,
    provider_named,
    render_tools,
)

Schema = dict[str, Any]
S: Schema = {"type": "string"}
_STRICT = "in its strict schemas together"
OPENAI = [
    (128, "tools", True),
    (5_000, f"properties {_STRICT}", False),
    (1_000, f"values of `enum` {_STRICT}", False),
    (120_000, f"characters of names and values {_STRICT}", False),
]
CLAUDE = [
    (20, "strict tools", True),
    (24, f"optional parameters {_STRICT}", True),
    (16, f"parameters of several types {_STRICT}", True),
    (6, "strict tools", False),
    (7_000, f"bytes {_STRICT}", False),
]
BUDGETS: dict[str, list[tuple[int, str, bool]]] = {
    "openai-chat": OPENAI,
    "openai-responses": [*OPENAI, (9, "functions in the namespace `notes`", False)],
    "anthropic": [(10_000, "deferred tools", True), *CLAUDE],
    "gemini": [
        (512, "function declarations", True),
        (960, "items in all `maxItems` together", False),
    ],
    "bedrock": CLAUDE,
    "ollama": [],
}


def _tool(name: str, schema: Schema, **more: Any) -> Tool:
    definition = {"name": name, "inputSchema": schema}
    for field in ("outputSchema", "title", "annotations"):
        if field in more:
            definition[field] = more.pop(field)
    return Tool(name, "", "", definition, **more)


def _object(
    properties: Schema, *, required_names: Sequence[str] | None = None
) -> Schema:
    required = list(properties if required_names is None else required_names)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


RICH = _object(
    {
        "a": {"enum": ["xx", "yyy", None]},
        "b": {"anyOf": [S, _object({"c": {"const": "zzzz"}})]},
        "d": {"type": "array", "items": S, "maxItems": 7},
    },
    required_names=["a", "b"],
)
LIST = [
    _tool("one", RICH, section="notes", always=True),
    _tool("two", RICH, section="notes"),
    _tool("three", _object({}), section="notes"),
    _tool("four", _object({})),
]
STRICT = ListOptions(strict=["one", "two"], tool_search=True)
COUNTS: dict[str, list[int]] = {
    "openai-chat": [4, 8, 6, 26],
    "openai-responses": [4, 8, 6, 26, 2],
    "anthropic": [3, 2, 2, 4, 2, 758],
    "gemini": [4, 14],
    "bedrock": [2, 2, 4, 2, 758],
    "ollama": [],
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_provider_limits_count_tools_strict_tools_and_schema_parts(name: str) -> None:
    provider = provider_named(name)
    rendered = render_tools(provider, LIST, STRICT).rendered
    counted = [(budget, budget.counts(rendered)) for budget in provider.budgets]
    assert [
        (budget.maximum, label, budget.is_refused)
        for budget, counts in counted
        for label in counts
    ] == BUDGETS[name]
    assert [count for _, counts in counted for count in counts.values()] == COUNTS[name]
    not_strict = render_tools(provider, LIST).rendered
    for budget in provider.budgets:
        for label, count in budget.counts(not_strict).items():
            assert (count > 0) is (label in ("tools", "function declarations")) or (
                "maxItems" in label
            )


OPTIONS = {
    "openai-chat": {"strict"},
    "openai-responses": {"strict", "tool_search", "programmatic"},
    "anthropic": {"strict", "tool_search", "programmatic"},
    "gemini": set(),
    "bedrock": {"strict"},
    "ollama": set(),
}
SUPPORTED_FIELDS = {
    "openai-responses": {"returns"},
    "anthropic": {"examples"},
    "gemini": {"returns"},
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_tool_fields_that_a_provider_lacks_are_reported_as_losses(name: str) -> None:
    provider = provider_named(name)
    assert provider.options == OPTIONS[name]
    assert provider.is_strict_by_name is (name in ("anthropic", "bedrock"))
    tool = _tool(
        "a.b",
        {"type": "object", "properties": {}},
        outputSchema=S,
        title="A",
        annotations={"readOnlyHint": True},
        confirm=Confirm("Sure?"),
        examples=[{"arguments": {}}],
    )
    fields = {"annotations", "confirm", "examples", "returns", "title"}
    unsupported = fields - SUPPORTED_FIELDS.get(name, set())
    rendered = render_tools(provider, [tool], ListOptions(strict=True))
    reported = {loss.keyword for loss in rendered.losses} - {"additionalProperties"}
    strict_keyword = {"strict"} if name in ("anthropic", "bedrock") else set()
    name_keyword = set() if name in ("gemini", "ollama") else {"name"}
    assert reported == unsupported | strict_keyword | name_keyword
    plain = render_tools(provider, [_tool("ab", {"type": "object"})])
    assert plain.losses == ()


def test_tool_search_and_programmatic_options_have_no_effect_if_unsupported() -> None:
    """`always` prevents deferral; `confirm` prevents programmatic calls."""
    tools = [
        _tool("now", _object({}), always=True, outputSchema=S),
        _tool("run", _object({}), outputSchema=S),
        _tool("ask", _object({}), outputSchema=S, confirm=Confirm("Sure?")),
        _tool("say", _object({})),
    ]
    for name in PROVIDERS:
        provider = provider_named(name)
        for tool_search in (False, True):
            for programmatic in (False, True):
                options = ListOptions(
                    tool_search=tool_search, programmatic=programmatic
                )
                rendered = render_tools(provider, tools, options).rendered
                is_deferred = tool_search and "tool_search" in OPTIONS[name]
                deferred = [False, *[is_deferred] * 3]
                assert [form.is_deferred for form in rendered] == deferred
                is_run = programmatic and "programmatic" in OPTIONS[name]
                programs = [is_run, is_run, False, False]
                assert [form.is_programmatic for form in rendered] == programs


def _render_strict(name: str, schema: Schema) -> tuple[bool, list[str]]:
    """Return whether a schema is strict in a provider's list, and the reasons if not."""
    options = ListOptions(strict=["do"])
    listed = render_tools(provider_named(name), [_tool("do", schema)], options)
    reasons = [loss.message for loss in listed.losses if loss.keyword == "strict"]
    return listed.rendered[0].is_strict, reasons


@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
def test_anthropic_tool_above_24_optional_or_16_unions_is_not_strict(name: str) -> None:
    def optional(count: int) -> Schema:
        return _object(
            {f"p{n}": S for n in range(count)} | {"x": S}, required_names=["x"]
        )

    def unions(count: int) -> Schema:
        union = {"anyOf": [S, {"type": "integer"}]}
        return _object({f"p{n}": union for n in range(count)})

    limit_text = "and models of Anthropic take"
    assert _render_strict(name, optional(24)) == (True, [])
    assert _render_strict(name, optional(25)) == (
        False,
        [
            f"no strict schema: it has 25 optional parameters, {limit_text} 24 in a request;"
            " the tool is not strict"
        ],
    )
    assert _render_strict(name, unions(16)) == (True, [])
    assert _render_strict(name, unions(17)) == (
        False,
        [
            f"no strict schema: it has 17 parameters of several types, {limit_text} 16 in a"
            " request; the tool is not strict"
        ],
    )


def test_anthropic_strict_schema_keeps_min_items_only_up_to_1() -> None:
    for min_items, is_kept in ((1, True), (2, False)):
        schema = _object({"a": {"type": "array", "items": S, "minItems": min_items}})
        listed = render_tools(
            provider_named("anthropic"), [_tool("do", schema)], ListOptions(["do"])
        )
        array = listed.tools[0]["input_schema"]["properties"]["a"]
        assert ("minItems" in array) is is_kept


def test_anthropic_input_examples_contain_only_valid_and_successful_examples() -> None:
    """Examples that fail, or that the rendered schema rejects, are omitted."""
    schema = {
        "type": "object",
        "properties": {"day of": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["count"],
    }
    examples = [
        {"arguments": {"count": 1, "day of": "a"}},
        {"arguments": {"count": 2}, "error": "It fails."},
        {"arguments": {"count": "no number"}},
        {},
    ]
    tool = _tool("do", schema, examples=examples)
    listed = render_tools(provider_named("anthropic"), [tool])
    assert [*listed.rendered[0].examples] == [{"count": 1, "day_of": "a"}]
    assert "3 of 4 are omitted: they fail, or the form has other arguments" in [
        loss.message for loss in listed.losses
    ]
    strange = _tool("do", _object({}), examples=[{}])
    assert render_tools(provider_named("anthropic"), [strange]).losses == ()


def test_anthropic_tool_list_has_strict_deferred_and_programmatic_fields() -> None:
    """Programs cannot call strict tools, and strict schemas keep only simple patterns."""
    pattern = _object({"a": {"type": "string", "pattern": "^a"}, "b": S})
    pattern["properties"]["b"] = {"type": "string", "pattern": "a\\b"}
    tools = [_tool(name, pattern, outputSchema=S) for name in ("one", "two")]
    options = ListOptions(strict=["two"], tool_search=True, programmatic=True)
    first, second, *provider_own = render_tools(
        provider_named("anthropic"), tools, options
    ).tools
    strict = second["input_schema"]["properties"]
    assert strict["a"] == {"type": "string", "pattern": "^a"}
    assert strict["b"] == {"type": "string", "description": '(pattern: "a\\\\b")'}
    for form in (first, second):
        del form["name"], form["input_schema"]
    assert first == {
        "defer_loading": True,
        "allowed_callers": ["direct", "code_execution_20260521"],
    }
    assert second == {"strict": True, "defer_loading": True}
    assert [form["name"] for form in provider_own] == [
        "tool_search_tool_bm25",
        "code_execution",
    ]
    listed = render_tools(provider_named("bedrock"), tools, options).tools
    assert [tool["toolSpec"].get("strict") for tool in listed] == [None, True]
    for name in ("anthropic", "bedrock"):
        all_strict = render_tools(provider_named(name), tools, ListOptions(strict=True))
        assert '"strict": true' not in json.dumps(all_strict.tools)
        assert [loss.keyword for loss in all_strict.losses].count("strict") == 2
