"""`all_match` is said only when all is there, and success only when all was done."""

from __future__ import annotations

from typing import Any

import pytest

from letta.tests.stage import Stage
from toolcast_letta.plan.desired_state import MissingSettingError
from toolcast_letta.plan.report import format_plan, format_verification


def detach(stage: Stage, *names: str) -> None:
    """Somebody takes tools away by hand."""
    for name in names:
        tool = stage.registered(name)
        path = f"/v1/agents/{stage.agent_id}/tools/detach/{tool['id']}"
        stage.ask("PATCH", path)


@pytest.mark.parametrize(
    "name", ["memory_insert", "memory_replace", "conversation_search"]
)
def test_a_core_memory_tool_that_is_gone_is_no_match(stage: Stage, name: str) -> None:
    stage.apply()
    detach(stage, name)
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


def test_another_tool_for_the_same_memory_will_do(stage: Stage) -> None:
    stage.apply()
    by_hand = stage.registered("core_memory_append")["id"]
    ids = [tool["id"] for tool in stage.agent()["tools"]]
    stage.patch(tool_ids=[*ids, by_hand])
    stage.apply()
    assert stage.verify(examples=False).all_match
    # And it is known of the baseline that it was there.
    stage.project.edit("specs/toy/end_day.yaml", "End the day.", "End this day.")
    stage.deploy()
    stage.apply()
    detach(stage, "core_memory_append")
    [line] = stage.verify(examples=False).differences
    assert "`core_memory_append` was detached from" in line


def test_a_core_tool_that_is_not_wanted_is_forbidden_with_a_reason(
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


def test_a_loss_of_others_is_not_hidden_behind_what_came(stage: Stage) -> None:
    stage.apply()
    detach(stage, "their_tool")
    found = stage.verify(examples=False)
    assert not found.all_match
    assert "`their_tool` was detached from keeper" in format_verification(found)
    assert "(baseline 6 + 3 - 1: lost their_tool)" in format_verification(found)


def test_rules_of_built_in_tools_that_were_wiped_are_no_match(stage: Stage) -> None:
    stage.apply()
    rules = stage.rules()
    stage.patch(tool_rules=[])
    found = stage.verify(examples=False)
    assert "+ rule memory_insert continue_loop of keeper" in found.differences
    stage.apply()
    assert stage.rules() == rules
    assert stage.verify(examples=False).all_match


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ({"tools": ("delete_note",)}, "--call-changing to call it"),
        ({"tools": ("end_day",)}, "its spec has no example"),
        ({"turn": "delete_note"}, "a user would have to approve the call"),
    ],
)
def test_what_was_asked_for_and_left_out_is_no_success(
    stage: Stage, calls: dict[str, Any], said: str
) -> None:
    stage.apply()
    found = stage.verify(**calls)
    assert found.all_match
    assert not found.is_success
    assert said in found.skipped_checks[0]
    assert "skipped: " in format_verification(found)


def test_a_changing_tool_is_called_when_that_is_said(stage: Stage) -> None:
    stage.apply()
    assert stage.verify(tools=("delete_note",), changing=True).is_success
    assert [call.name for call in stage.mcp.calls] == ["delete_note"]


def test_calling_one_tool_and_none_is_a_contradiction(stage: Stage) -> None:
    with pytest.raises(MissingSettingError, match="--no-calls"):
        stage.verify(tools=("delete_note",), examples=False)
