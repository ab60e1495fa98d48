"""Verification: `all_match` requires complete state, success requires all checks."""

from __future__ import annotations

from typing import Any

import pytest

from letta.tests.stage import Stage
from toolcast_letta.plan.desired_state import MissingSettingError
from toolcast_letta.plan.report import format_plan, format_verification


def detach_tools(stage: Stage, *names: str) -> None:
    """Detach tools from the agent outside of Toolcast."""
    for name in names:
        tool = stage.find_tool(name)
        path = f"/v1/agents/{stage.agent_id}/tools/detach/{tool['id']}"
        stage.request("PATCH", path)


@pytest.mark.parametrize(
    "name", ["memory_insert", "memory_replace", "conversation_search"]
)
def test_letta_verify_reports_a_detached_core_memory_tool_as_a_difference(
    stage: Stage, name: str
) -> None:
    stage.apply()
    detach_tools(stage, name)
    found = stage.verify(examples=False)
    assert not found.all_match
    [needed, lost] = found.differences
    assert f"`{name}`" in needed
    assert "which a memgpt_v2_agent needs" in needed
    assert lost.startswith(f"`{name}` was detached from keeper since the baseline of ")
    text = format_plan(stage.plan())
    assert f"missing: {needed}" in text
    assert "No changes" not in text
    assert f"- 1: lost {name})  keeper\nall_match: false\n" in format_verification(
        found
    )


def test_letta_verify_accepts_an_added_memory_tool_and_reports_its_later_loss(
    stage: Stage,
) -> None:
    stage.apply()
    attached_id = stage.find_tool("core_memory_append")["id"]
    ids = [tool["id"] for tool in stage.agent()["tools"]]
    stage.patch(tool_ids=[*ids, attached_id])
    stage.apply()
    assert stage.verify(examples=False).all_match
    # The new baseline contains the alternative tool, so that its loss is reported.
    stage.project.edit("specs/toy/end_day.yaml", "End the day.", "End this day.")
    stage.deploy()
    stage.apply()
    detach_tools(stage, "core_memory_append")
    [line] = stage.verify(examples=False).differences
    assert "`core_memory_append` was detached from" in line


def test_letta_apply_detaches_a_forbidden_core_tool_without_a_verify_difference(
    stage: Stage,
) -> None:
    stage.project.edit(
        "specs/toy/toolset.yaml",
        "forbids: [",
        "forbids: [{name: memory_insert, reason: It only reads.}, ",
    )
    stage.apply()
    assert "memory_insert" not in stage.names()
    assert stage.verify(examples=False).all_match


def test_letta_verify_reports_a_detached_foreign_tool_next_to_the_tool_counts(
    stage: Stage,
) -> None:
    stage.apply()
    detach_tools(stage, "their_tool")
    found = stage.verify(examples=False)
    assert not found.all_match
    assert "`their_tool` was detached from keeper" in format_verification(found)
    assert "(baseline 6 + 3 - 1: lost their_tool)" in format_verification(found)


def test_letta_verify_reports_removed_tool_rules_for_built_in_tools(
    stage: Stage,
) -> None:
    stage.apply()
    rules = stage.rules()
    stage.patch(tool_rules=[])
    found = stage.verify(examples=False)
    assert "+ rule memory_insert continue_loop of keeper" in found.differences
    stage.apply()
    assert stage.rules() == rules
    assert stage.verify(examples=False).all_match


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ({"tools": ("delete_note",)}, "--call-changing to call it"),
        ({"tools": ("end_day",)}, "its spec has no example"),
        ({"turn": "delete_note"}, "a user would have to approve the call"),
    ],
)
def test_letta_verify_fails_if_a_requested_tool_check_is_skipped(
    stage: Stage, calls: dict[str, Any], reason: str
) -> None:
    stage.apply()
    found = stage.verify(**calls)
    assert found.all_match
    assert not found.is_success
    assert reason in found.skipped_checks[0]
    assert "skipped: " in format_verification(found)


def test_letta_verify_calls_a_requested_data_changing_tool_with_call_changing(
    stage: Stage,
) -> None:
    stage.apply()
    assert stage.verify(tools=("delete_note",), changing=True).is_success
    assert [call.name for call in stage.mcp.calls] == ["delete_note"]


def test_letta_verify_rejects_a_selected_tool_combined_with_no_calls(
    stage: Stage,
) -> None:
    with pytest.raises(MissingSettingError, match="--no-calls"):
        stage.verify(tools=("delete_note",), examples=False)
