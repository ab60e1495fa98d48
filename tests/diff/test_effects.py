"""What clients, programs and providers see differently is derived from both sides."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import ROOT
from tests.diff.single_changes import loaded
from toolcast.changes.comparison import compare
from toolcast.changes.effects.effect import Effect, EffectKind
from toolcast.facts.token_count import estimated_tokens

CLIENTS = {"a": {"allow": "*"}, "b": {"allow": ["note"]}}
TARGETS: dict[str, Any] = {"mcp": {}, "langchain": {}, "prompts": {}, "cli": {}}


def effects(before: Any, after: Any, kind: EffectKind) -> list[Effect]:
    found = compare(loaded(before), loaded(after)).effects
    assert all(e.message.isprintable() and e.message.count("`") % 2 == 0 for e in found)
    return [effect for effect in found if effect.kind is kind]


def test_nothing_follows_from_nothing() -> None:
    side = {"toolset": {"clients": CLIENTS, "targets": TARGETS}, "other": {}}

    compared = compare(loaded(side), loaded(side))

    assert compared == ([], [])


def test_a_new_tool_is_seen_by_the_clients_that_may_have_it() -> None:
    toolset = {"toolset": {"clients": CLIENTS, "targets": TARGETS}}

    seen = effects(toolset, {**toolset, "jot": {}}, EffectKind.SEEN)

    assert [(e.reader, e.tool, e.before, e.after) for e in seen] == [
        ("a", "jot", [], ["langchain", "mcp", "prompts", "registry"])
    ]
    assert seen[0].message == (
        "`a` sees it in MCP's list, the registry, LangChain's tools and the prompt docs"
    )
    assert not seen[0].is_worse


def test_a_tool_that_is_gone_is_seen_no_more() -> None:
    toolset = {"toolset": {"clients": CLIENTS}}

    seen = effects({**toolset, "jot": {}}, toolset, EffectKind.SEEN)

    assert [(e.reader, e.tool, e.after, e.is_worse) for e in seen] == [
        ("a", "jot", [], True)
    ]


def test_a_renamed_tool_goes_on_to_be_seen() -> None:
    before: Any = {"note": None, "keep": {}}
    after = {"note": {"renamed_from": ["keep"]}}

    assert effects(before, after, EffectKind.SEEN) == []


def test_the_one_caller_of_a_toolset_without_clients() -> None:
    before = {"toolset": {"targets": TARGETS}}
    exclusion = {"tool": "note", "target": "langchain", "reason": "Not for chains."}
    after = {"toolset": {"targets": TARGETS, "exclusions": [exclusion]}}

    seen = effects(before, after, EffectKind.SEEN)

    assert [(e.reader, e.message) for e in seen] == [
        ("", "the caller no longer sees it in LangChain's tools")
    ]


def test_a_client_reads_of_a_tool_that_it_does_not_have_any_more() -> None:
    texts = {"note": {"guidance": "Look first with list_notes."}, "list_notes": {}}
    before = {
        **texts,
        "toolset": {"clients": {"a": {"allow": "*"}, "b": {"allow": "*"}}},
    }
    restricted = {"allow": "*", "restrict": ["list_notes"]}
    after = {**texts, "toolset": {"clients": {"a": {"allow": "*"}, "b": restricted}}}

    found = effects(before, after, EffectKind.MENTION)

    assert [(e.reader, e.tool, e.after) for e in found] == [("b", "note", "list_notes")]
    assert found[0].message == (
        "`b` reads of `list_notes` in its texts, and does not have that tool"
    )
    assert effects(after, before, EffectKind.MENTION) == []


def test_a_text_that_stays_names_a_tool_that_goes() -> None:
    text = {"note": {"guidance": "Look first with list_notes."}}

    found = effects({**text, "list_notes": {}}, text, EffectKind.MENTION)

    assert [(e.reader, e.tool, e.after) for e in found] == [("", "note", "list_notes")]


def test_a_text_begins_to_name_a_tool_that_a_client_has_not() -> None:
    toolset = {"toolset": {"clients": CLIENTS}, "list_notes": {}}
    note = {"guidance": "Look first with list_notes."}

    found = effects(toolset, {**toolset, "note": note}, EffectKind.MENTION)

    assert [(e.reader, e.tool, e.after) for e in found] == [("b", "note", "list_notes")]


def test_a_text_follows_a_rename() -> None:
    before = {"note": {"guidance": "Look first with all_notes."}, "all_notes": {}}
    after = {
        "note": {"guidance": "Look first with list_notes."},
        "list_notes": {"renamed_from": ["all_notes"]},
    }

    assert effects(before, after, EffectKind.MENTION) == []


@pytest.mark.parametrize(
    ("fields", "places"),
    [
        ({"title": None}, ["title"]),
        ({"annotations": {"readOnlyHint": "yes"}}, ["annotations.readOnlyHint"]),
    ],
)
def test_strict_clients_begin_and_cease_to_refuse_the_list(
    fields: dict[str, Any], places: list[str]
) -> None:
    begins = effects({}, {"note": fields}, EffectKind.REFUSED)
    ceases = effects({"note": fields}, {}, EffectKind.REFUSED)

    assert [(e.after, e.is_worse) for e in begins] == [(places, True)] * len(begins)
    assert [(e.before, e.is_worse) for e in ceases] == [(places, False)] * len(ceases)
    assert begins and len(begins) == len(ceases)
    assert begins[0].reader.startswith("MCP 20")


def test_a_name_is_too_long_with_the_prefix_of_a_client() -> None:
    long = "n" * 119
    before: Any = {"note": None, "keep": {}}
    after: Any = {
        "note": None,
        long: {"renamed_from": ["keep"]},
    }

    found = effects(before, after, EffectKind.NAME)

    assert [(e.reader, e.is_worse, e.before, e.after) for e in found] == [
        ("Claude Code", True, "keep", long),
        ("providers", True, "keep", long),
    ]
    assert "has 129 characters with the prefix of Claude Code" in found[0].message


def test_a_new_tool_has_a_description_that_clients_cut_off() -> None:
    found = effects({}, {"jot": {"description": "Jot. LONG:2100"}}, EffectKind.LENGTH)

    assert [(e.reader, e.tool) for e in found] == [("Claude Code", "jot")]


def test_a_name_that_providers_refuse() -> None:
    before: Any = {"note": None, "keep": {}}
    after: Any = {
        "note": None,
        "no.te": {"renamed_from": ["keep"]},
    }

    found = effects(before, after, EffectKind.NAME)

    assert [e.message for e in found] == [
        "the name `no.te` has a dot, which OpenAI, Anthropic and Bedrock refuse"
    ]


def test_more_tools_than_the_program_takes() -> None:
    few: dict[str, Any] = {f"tool_{index}": {} for index in range(39)}
    few["toolset"] = {"client_kind": "cursor"}

    found = effects(few, {**few, "one_more": {}}, EffectKind.TOOLS)

    assert [(e.reader, e.before, e.after) for e in found] == [("Cursor", 40, 41)]


def test_a_providers_form_loses_a_keyword() -> None:
    def note(**schema: Any) -> Any:
        tags = {"type": "array", "items": {"type": "string"}, **schema}
        return {
            "note": {"parameters": {"type": "object", "properties": {"tags": tags}}}
        }

    found = effects(note(), note(uniqueItems=True), EffectKind.FORM)

    assert [(e.reader, e.before, e.after, e.is_worse) for e in found] == [
        ("OpenAI strict", [], ["`uniqueItems`"], True),
    ]
    back = effects(note(uniqueItems=True), note(), EffectKind.FORM)
    assert [e.is_worse for e in back] == [False]


def test_langchain_loses_a_parameter_of_a_name_of_its_own() -> None:
    after = {
        "parameters": {"type": "object", "properties": {"config": {"type": "string"}}}
    }

    found = effects({}, {"note": after}, EffectKind.FORM)

    assert [e.message for e in found if e.reader == "LangChain over MCP"] == [
        "the parameter `config`: LangChain's own tools drop it in silence"
    ]


def test_tokens_are_told_for_each_client() -> None:
    toolset = {"toolset": {"clients": CLIENTS, "targets": TARGETS}}
    words = "Stores a note under its title until somebody deletes it again."

    found = effects(
        toolset, {**toolset, "note": {"description": words}}, EffectKind.TOKENS
    )

    more = estimated_tokens(words) - estimated_tokens("Store a note.")
    assert [(e.reader, e.after["upfront"] - e.before["upfront"]) for e in found] == [
        ("a", more),
        ("b", more),
    ]
    cost = f"{found[0].after['upfront']} upfront (+{more})"
    assert found[0].message == f"the tools of `a` cost about, in tokens: {cost}"


def test_texts_of_prompt_docs_cost_there_alone() -> None:
    toolset = {"toolset": {"targets": TARGETS}}
    after = {**toolset, "note": {"guidance": "One fact in each note."}}

    found = effects(toolset, after, EffectKind.TOKENS)

    assert [e.before | {"prompt": e.after["prompt"]} for e in found] == [found[0].after]


def test_a_client_that_loads_on_demand_pays_for_names() -> None:
    toolset = {"toolset": {"client_kind": "claude-code"}}

    found = effects(toolset, {**toolset, "jot": {}}, EffectKind.TOKENS)

    assert [{k for k, v in e.after.items() if v > e.before[k]} for e in found] == [
        {"names", "on_demand"}
    ]


def test_every_effect_is_in_the_docs() -> None:
    page = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")

    assert [kind for kind in EffectKind if f"| `{kind}` |" not in page] == []
