"""Effects that `toolcast diff` reports for clients: visible tools, their number and token costs."""

from __future__ import annotations

from typing import Any

from tests.conftest import ROOT
from tests.diff.single_changes import load_project
from toolcast.analysis.token_costs import estimate_tokens
from toolcast.diff.comparison import compare
from toolcast.diff.effects import Effect, EffectKind

CLIENTS = {"a": {"allow": "*"}, "b": {"allow": ["note"]}}
TARGETS: dict[str, Any] = {"mcp": {}, "langchain": {}, "prompts": {}, "cli": {}}


def get_effects(before: Any, after: Any, kind: EffectKind) -> list[Effect]:
    found = compare(load_project(before), load_project(after)).effects
    assert all(e.message.isprintable() and e.message.count("`") % 2 == 0 for e in found)
    return [e for e in found if e.kind is kind]


def test_diff_between_equal_projects_has_no_changes_and_no_effects_on_clients() -> None:
    project = {"toolset": {"clients": CLIENTS, "targets": TARGETS}, "other": {}}
    compared = compare(load_project(project), load_project(project))
    assert compared == ([], [])


def test_diff_reports_that_only_allowing_clients_see_a_new_or_removed_tool() -> None:
    toolset = {"toolset": {"clients": CLIENTS, "targets": TARGETS}}
    with_tool = {**toolset, "jot": {}}
    targets = ["cli", "langchain", "mcp", "prompts", "registry"]
    [seen] = get_effects(toolset, with_tool, EffectKind.VISIBILITY)
    assert (seen.reader, seen.tool) == ("a", "jot")
    assert (seen.before, seen.after) == ([], targets)
    assert seen.message == (
        "`a` sees it in MCP's list, the registry, LangChain's tools, the prompt docs and the"
        " commands"
    )
    assert not seen.is_worse
    [lost] = get_effects(with_tool, toolset, EffectKind.VISIBILITY)
    assert (lost.reader, lost.tool, lost.after, lost.is_worse) == ("a", "jot", [], True)


def test_diff_reports_no_visibility_effect_for_a_renamed_tool() -> None:
    before: Any = {"note": None, "keep": {}}
    after = {"note": {"renamed_from": ["keep"]}}
    assert get_effects(before, after, EffectKind.VISIBILITY) == []


def test_diff_reports_visibility_to_the_caller_if_toolset_has_no_clients() -> None:
    before = {"toolset": {"targets": TARGETS}}
    exclusion = {"tool": "note", "target": "langchain", "reason": "Not for chains."}
    after = {"toolset": {"targets": TARGETS, "exclusions": [exclusion]}}
    found = get_effects(before, after, EffectKind.VISIBILITY)
    assert [(e.reader, e.message) for e in found] == [
        ("", "the caller no longer sees it in LangChain's tools")
    ]
    with_clients = {"toolset": {**after["toolset"], "clients": CLIENTS}}
    assert get_effects(before, with_clients, EffectKind.VISIBILITY) == []


def test_diff_reports_more_tools_than_the_mcp_client_cursor_supports() -> None:
    few: dict[str, Any] = {f"tool_{index}": {} for index in range(39)}
    few["toolset"] = {"client_kind": "cursor"}
    found = get_effects(few, {**few, "one_more": {}}, EffectKind.TOOLS)
    assert [(e.reader, e.before, e.after) for e in found] == [("Cursor", 40, 41)]


def test_diff_reports_added_tool_text_token_costs_for_each_client() -> None:
    toolset = {"toolset": {"clients": CLIENTS, "targets": TARGETS}}
    description = "Stores a note under its title until somebody deletes it again."
    after = {**toolset, "note": {"description": description}}
    found = get_effects(toolset, after, EffectKind.TOKENS)
    added_tokens = estimate_tokens(description) - estimate_tokens("Store a note.")
    assert [(e.reader, e.after["upfront"] - e.before["upfront"]) for e in found] == [
        ("a", added_tokens),
        ("b", added_tokens),
    ]
    cost = f"{found[0].after['upfront']} upfront (+{added_tokens})"
    assert found[0].message == f"estimated tokens for the tools of `a`: {cost}"


def test_diff_adds_guidance_token_costs_only_to_generated_prompts() -> None:
    toolset = {"toolset": {"targets": TARGETS}}
    after = {**toolset, "note": {"guidance": "One fact in each note."}}
    found = get_effects(toolset, after, EffectKind.TOKENS)
    assert [e.before | {"prompt": e.after["prompt"]} for e in found] == [found[0].after]


def test_new_tool_in_claude_code_raises_name_and_on_demand_token_costs() -> None:
    toolset = {"toolset": {"client_kind": "claude-code"}}
    found = get_effects(toolset, {**toolset, "jot": {}}, EffectKind.TOKENS)
    assert [{k for k, v in e.after.items() if v > e.before[k]} for e in found] == [
        {"names", "on_demand"}
    ]


def test_diff_does_not_report_token_changes_under_one_percent() -> None:
    description = "Stores a note under its title until somebody deletes it again. " * 20
    before = {"note": {"description": description}}
    after = {"note": {"description": f"{description}Now."}}
    assert get_effects(before, after, EffectKind.TOKENS) == []


def test_docs_page_on_diff_documents_every_effect_kind() -> None:
    page = (ROOT / "docs" / "diff.md").read_text(encoding="utf-8")
    assert [kind for kind in EffectKind if f"| `{kind}` |" not in page] == []
