"""Manual changes to an agent, the registry or the server: each is reported by verify."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from letta.tests.dangers.manual_change_cases import (
    NOT_REPAIRED,
    REFUSED,
    REPAIRED,
    WARNED,
)
from letta.tests.manual_changes import (
    ManualChange,
    delete_entry,
    rename_entry,
    replace_loop_rule,
    set_tool_fields,
)
from letta.tests.stage import Stage
from letta.tests.toy import TOOLSET
from toolcast_letta.plan.report import format_verification


@pytest.fixture
def verify_after(stage: Stage) -> Callable[[ManualChange], Any]:
    """Return a function that makes a change and verifies without calling a tool."""
    stage.apply()
    assert stage.verify(examples=False).all_match

    def change_and_verify(change: ManualChange) -> Any:
        change(stage)
        return stage.verify(examples=False)

    return change_and_verify


@pytest.mark.parametrize(("change", "expected"), REPAIRED.values(), ids=REPAIRED)
def test_letta_verify_reports_a_manual_change_that_letta_apply_repairs(
    verify_after: Any, stage: Stage, change: ManualChange, expected: str
) -> None:
    found = verify_after(change)
    assert expected in format_verification(found)
    assert not found.all_match
    stage.apply()
    assert stage.verify(examples=False).all_match


@pytest.mark.parametrize(
    ("change", "expected"), NOT_REPAIRED.values(), ids=NOT_REPAIRED
)
def test_letta_verify_reports_a_loss_or_conflict_that_letta_apply_does_not_repair(
    verify_after: Any, stage: Stage, change: ManualChange, expected: str
) -> None:
    found = verify_after(change)
    assert expected in format_verification(found)
    assert not found.all_match
    assert found.plan.missing


@pytest.mark.parametrize(("change", "expected"), WARNED.values(), ids=WARNED)
def test_letta_plan_keeps_a_manual_change_outside_the_specs_with_a_warning(
    verify_after: Any, stage: Stage, change: ManualChange, expected: str
) -> None:
    found = verify_after(change)
    assert expected in "\n".join(found.plan.warnings)
    assert found.all_match
    assert found.plan.changes == ()


@pytest.mark.parametrize(("change", "expected"), REFUSED.values(), ids=REFUSED)
def test_letta_plan_is_blocked_by_changed_mcp_server_tools_or_tool_owners(
    verify_after: Any, stage: Stage, change: ManualChange, expected: str
) -> None:
    found = verify_after(change)
    assert expected in format_verification(found)
    assert not found.all_match
    assert found.plan.blockers


def test_default_requires_approval_in_letta_becomes_a_tool_rule_with_a_warning(
    verify_after: Any, stage: Stage
) -> None:
    found = verify_after(
        set_tool_fields("search_notes", default_requires_approval=True)
    )
    assert "+ rule search_notes requires_approval" in format_verification(found)
    stage.apply()
    found = stage.verify(examples=False)
    assert found.all_match
    assert "`search_notes` default_requires_approval" in "\n".join(found.plan.warnings)


@pytest.mark.parametrize("change", [rename_entry, delete_entry])
def test_letta_verify_reports_a_renamed_or_deleted_mcp_server_entry_as_missing(
    verify_after: Any, change: ManualChange
) -> None:
    assert "+ server toy" in format_verification(verify_after(change))


def test_letta_verify_accepts_exit_loop_for_an_expected_tool_only_in_ends_turn(
    verify_after: Any, stage: Stage
) -> None:
    expected = "expects: [send_message, memory_insert]"
    stage.project.edit("specs/toy/toolset.yaml", "expects: [send_message]", expected)
    found = verify_after(replace_loop_rule("memory_insert", "exit_loop"))
    assert "- rule memory_insert exit_loop of keeper" in found.differences
    ends = "ends_turn: [send_message, memory_insert]"
    stage.project.edit("specs/toy/toolset.yaml", "ends_turn: [send_message]", ends)
    assert stage.verify(examples=False).all_match


@pytest.mark.parametrize(
    ("kind", "name", "rule", "expected"),
    [
        ("letta_v1_agent", "memory_insert", "exit_loop", "ends its turn after"),
        ("memgpt_agent", "core_memory_append", "exit_loop", "ends its turn after"),
        ("memgpt_agent", "send_message", "continue_loop", "continues its turn after"),
    ],
)
def test_letta_verify_reports_a_changed_core_tool_loop_rule_for_each_agent_type(
    make_toy: Any, kind: str, name: str, rule: str, expected: str
) -> None:
    toolset = TOOLSET.replace("memgpt_v2_agent", kind)
    for key in ("expects", "ends_turn"):
        toolset = toolset.replace(f"      {key}: [send_message]\n", "")
    toy = make_toy(toolset=toolset, agent_type=kind)
    toy.apply()
    rules = [
        existing for existing in toy.agent.tool_rules if existing["tool_name"] != name
    ]
    toy.agent.tool_rules = [*rules, {"tool_name": name, "type": rule}]
    found = toy.verify(examples=False)
    assert not found.all_match
    assert f"keeper {expected} `{name}`, by a rule {rule}" in "\n".join(
        found.differences
    )


def test_letta_verify_has_no_warning_for_tool_rules_that_letta_created(
    make_toy: Any,
) -> None:
    toy = make_toy(toolset=TOOLSET.replace("      ends_turn: [send_message]\n", ""))
    toy.agent.tool_rules.pop()
    toy.world.delete_tool(toy.world.find_tool("their_tool").id)
    toy.apply()
    assert ("send_message", "exit_loop") in toy.rules()
    assert toy.verify(examples=False).plan.warnings == ()
