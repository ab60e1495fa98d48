"""Effects on clients: visible tools, their number and token costs."""

from __future__ import annotations

from typing import Any

from tests.conftest import ROOT
from tests.diff.single_changes import load_project
from toolcast.analysis.token_costs import estimate_tokens
from toolcast.diff.comparison import compare
from toolcast.diff.effects import Effect, EffectKind

CLIENTS = {"a": {"allow": "*"}, "b": {"allow": ["note"]}}
TARGETS: dict[str, Any] = {"mcp": {}, "langchain": {}, "prompts": {}, "cli": {}}


def effects(before: Any, after: Any, kind: EffectKind) -> list[Effect]:
    found = compare(load_project(before), load_project(after)).effects
    assert all(e.message.isprintable() and e.message.count("`") % 2 == 0 for e in found)
    return [effect for effect in found if effect.kind is kind]


def test_nothing_follows_from_nothing() -> None:
    side = {"toolset": {"clients": CLIENTS, "targets": TARGETS}, "other": {}}

    compared = compare(load_project(side), load_project(side))

    assert compared == ([], [])


def test_a_new_tool_is_seen_by_the_clients_that_may_have_it() -> None:
    toolset = {"toolset": {"clients": CLIENTS, "targets": TARGETS}}

    seen = effects(toolset, {**toolset, "jot": {}}, EffectKind.VISIBILITY)

    assert [(e.reader, e.tool, e.before, e.after) for e in seen] == [
        ("a", "jot", [], ["cli", "langchain", "mcp", "prompts", "registry"])
    ]
    assert seen[0].message == (
        "`a` sees it in MCP's list, the registry, LangChain's tools, the prompt docs and the"
        " commands"
    )
    assert not seen[0].is_worse


def test_a_tool_that_is_gone_is_seen_no_more() -> None:
    toolset = {"toolset": {"clients": CLIENTS}}

    seen = effects({**toolset, "jot": {}}, toolset, EffectKind.VISIBILITY)

    assert [(e.reader, e.tool, e.after, e.is_worse) for e in seen] == [
        ("a", "jot", [], True)
    ]


def test_a_renamed_tool_goes_on_to_be_seen() -> None:
    before: Any = {"note": None, "keep": {}}
    after = {"note": {"renamed_from": ["keep"]}}

    assert effects(before, after, EffectKind.VISIBILITY) == []


def test_the_one_caller_of_a_toolset_without_clients() -> None:
    before = {"toolset": {"targets": TARGETS}}
    exclusion = {"tool": "note", "target": "langchain", "reason": "Not for chains."}
    after = {"toolset": {"targets": TARGETS, "exclusions": [exclusion]}}

    seen = effects(before, after, EffectKind.VISIBILITY)

    assert [(e.reader, e.message) for e in seen] == [
        ("", "the caller no longer sees it in LangChain's tools")
    ]


def test_more_tools_than_the_program_takes() -> None:
    few: dict[str, Any] = {f"tool_{index}": {} for index in range(39)}
    few["toolset"] = {"client_kind": "cursor"}

    found = effects(few, {**few, "one_more": {}}, EffectKind.TOOLS)

    assert [(e.reader, e.before, e.after) for e in found] == [("Cursor", 40, 41)]


def test_tokens_are_told_for_each_client() -> None:
    toolset = {"toolset": {"clients": CLIENTS, "targets": TARGETS}}
    words = "Stores a note under its title until somebody deletes it again."

    found = effects(
        toolset, {**toolset, "note": {"description": words}}, EffectKind.TOKENS
    )

    more = estimate_tokens(words) - estimate_tokens("Store a note.")
    assert [(e.reader, e.after["upfront"] - e.before["upfront"]) for e in found] == [
        ("a", more),
        ("b", more),
    ]
    cost = f"{found[0].after['upfront']} upfront (+{more})"
    assert found[0].message == f"estimated tokens for the tools of `a`: {cost}"


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


def test_tokens_below_a_hundredth_are_not_told() -> None:
    words = "Stores a note under its title until somebody deletes it again. " * 20
    long = {"note": {"description": words}}

    found = effects(long, {"note": {"description": f"{words}Now."}}, EffectKind.TOKENS)

    assert found == []


def test_every_effect_is_in_the_docs() -> None:
    page = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")

    assert [kind for kind in EffectKind if f"| `{kind}` |" not in page] == []
