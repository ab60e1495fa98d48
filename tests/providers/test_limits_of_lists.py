"""What each provider has and takes, and how much of it: every figure, and one more than it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from toolcast_runtime.core.definitions.tool import Confirm, Tool
from toolcast_runtime.providers import (
    PROVIDERS,
    ListOptions,
    provider_named,
    render_tools,
)
from toolcast_runtime.providers.dialect import Dialect, Nullable, References

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


def _object(properties: Schema, *, needs: Sequence[str] | None = None) -> Schema:
    required = list(properties if needs is None else needs)
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
    needs=["a", "b"],
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
def test_what_is_counted_in_a_list_and_how_much_is_taken(name: str) -> None:
    provider = provider_named(name)
    rendered = render_tools(provider, LIST, STRICT).rendered
    counted = [(one, one.counts(rendered)) for one in provider.budgets]
    assert [
        (one.maximum, what, one.is_refused) for one, found in counted for what in found
    ] == BUDGETS[name]
    assert [count for _, found in counted for count in found.values()] == COUNTS[name]
    loose = render_tools(provider, LIST).rendered
    for one in provider.budgets:
        for what, count in one.counts(loose).items():
            assert (count > 0) is (what in ("tools", "function declarations")) or (
                "maxItems" in what
            )


OPTIONS = {
    "openai-chat": {"strict"},
    "openai-responses": {"strict", "tool_search", "programmatic"},
    "anthropic": {"strict", "tool_search", "programmatic"},
    "gemini": set(),
    "bedrock": {"strict"},
    "ollama": set(),
}
TAKES = {
    "openai-responses": {"returns"},
    "anthropic": {"examples"},
    "gemini": {"returns"},
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_what_a_form_has_no_place_for_is_told(name: str) -> None:
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
    lost = fields - TAKES.get(name, set())
    found = render_tools(provider, [tool], ListOptions(strict=True))
    told = {loss.keyword for loss in found.losses} - {"additionalProperties"}
    by_name = {"strict"} if name in ("anthropic", "bedrock") else set()
    renamed = set() if name in ("gemini", "ollama") else {"name"}
    assert told == lost | by_name | renamed
    plain = render_tools(provider, [_tool("ab", {"type": "object"})])
    assert plain.losses == ()


def test_searched_and_run_is_what_a_list_asks_for() -> None:
    tools = [
        _tool("now", _object({}), always=True, outputSchema=S),
        _tool("run", _object({}), outputSchema=S),
        _tool("ask", _object({}), outputSchema=S, confirm=Confirm("Sure?")),
        _tool("say", _object({})),
    ]
    for name in PROVIDERS:
        provider = provider_named(name)
        for searched in (False, True):
            for run in (False, True):
                options = ListOptions(tool_search=searched, programmatic=run)
                rendered = render_tools(provider, tools, options).rendered
                is_deferred = searched and "tool_search" in OPTIONS[name]
                deferred = [False, *[is_deferred] * 3]
                assert [one.is_deferred for one in rendered] == deferred
                is_run = run and "programmatic" in OPTIONS[name]
                programs = [is_run, is_run, False, False]
                assert [one.is_programmatic for one in rendered] == programs


def _is_strict(name: str, schema: Schema) -> tuple[bool, list[str]]:
    options = ListOptions(strict=["do"])
    listed = render_tools(provider_named(name), [_tool("do", schema)], options)
    whys = [loss.message for loss in listed.losses if loss.keyword == "strict"]
    return listed.rendered[0].is_strict, whys


@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
def test_what_one_strict_schema_may_have_for_anthropics_models(name: str) -> None:
    def optional(count: int) -> Schema:
        return _object({f"p{n}": S for n in range(count)} | {"x": S}, needs=["x"])

    def unions(count: int) -> Schema:
        either = {"anyOf": [S, {"type": "integer"}]}
        return _object({f"p{n}": either for n in range(count)})

    beside = "and models of Anthropic take"
    assert _is_strict(name, optional(24)) == (True, [])
    assert _is_strict(name, optional(25)) == (
        False,
        [
            f"no strict schema: it has 25 optional parameters, {beside} 24 in a request;"
            " the tool is not strict"
        ],
    )
    assert _is_strict(name, unions(16)) == (True, [])
    assert _is_strict(name, unions(17)) == (
        False,
        [
            f"no strict schema: it has 17 parameters of several types, {beside} 16 in a"
            " request; the tool is not strict"
        ],
    )


def test_anthropics_strict_lists_have_one_item_at_least_or_any_number() -> None:
    for least, is_kept in ((1, True), (2, False)):
        schema = _object({"a": {"type": "array", "items": S, "minItems": least}})
        options = ListOptions(strict=["do"])
        listed = render_tools(
            provider_named("anthropic"), [_tool("do", schema)], options
        )
        given = listed.tools[0]["input_schema"]["properties"]["a"]
        assert ("minItems" in given) is is_kept


def test_the_examples_that_anthropic_is_sent() -> None:
    """Those of calls that succeed, whose arguments the form has, and which come back."""
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


def test_the_forms_of_anthropics_models_say_what_is_strict_deferred_and_run() -> None:
    """Programs call no strict tools; a pattern is kept where it is a plain one."""
    pattern = _object({"a": {"type": "string", "pattern": "^a"}, "b": S})
    pattern["properties"]["b"] = {"type": "string", "pattern": "a\\b"}
    tools = [_tool(name, pattern, outputSchema=S) for name in ("one", "two")]
    options = ListOptions(strict=["two"], tool_search=True, programmatic=True)
    one, two, *own = render_tools(provider_named("anthropic"), tools, options).tools
    strict = two["input_schema"]["properties"]
    assert strict["a"] == {"type": "string", "pattern": "^a"}
    assert strict["b"] == {"type": "string", "description": '(pattern: "a\\\\b")'}
    for form in (one, two):
        del form["name"], form["input_schema"]
    assert one == {
        "defer_loading": True,
        "allowed_callers": ["direct", "code_execution_20260521"],
    }
    assert two == {"strict": True, "defer_loading": True}
    assert [form["name"] for form in own] == ["tool_search_tool_bm25", "code_execution"]
    two = render_tools(provider_named("bedrock"), tools, options).tools[1]["toolSpec"]
    assert two["strict"] is True
    for name in ("anthropic", "bedrock"):
        all_strict = render_tools(provider_named(name), tools, ListOptions(strict=True))
        assert '"strict": true' not in json.dumps(all_strict.tools)
        assert [loss.keyword for loss in all_strict.losses].count("strict") == 2


def test_a_dialect_takes_everything_unless_it_says_otherwise() -> None:
    assert asdict(Dialect()) == {
        "keywords": None,
        "lost_at_root": frozenset(),
        "lost_of_parameters": frozenset(),
        "formats": None,
        "has_plain_patterns": False,
        "has_python_patterns": False,
        "enum_types": None,
        "max_min_items": None,
        "max_integer": None,
        "references": References.KEPT,
        "has_reference_siblings": True,
        "nullable": Nullable.ANY,
        "is_closed": False,
        "is_required_whole": False,
        "needs_items": False,
        "property_names": None,
    }
