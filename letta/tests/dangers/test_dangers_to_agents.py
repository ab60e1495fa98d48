"""Losses of an agent's tools and rules: each is refused or repaired.

The tests run on the fake and, with `make test-letta-real`, on a real server. The
recorded contract covers the server's own behavior.
"""

from __future__ import annotations

import pytest

from letta.tests.changing_mcp import changing_mcp, tool
from letta.tests.stage import OURS, THEIRS, Stage
from toolcast_letta.plan.backend import PlanRefusedError


def test_letta_apply_attaches_tools_with_rules_and_keeps_other_tools_and_rules(
    stage: Stage,
) -> None:
    rules = stage.rules()
    assert stage.names() == THEIRS
    done = stage.apply()
    assert (done.changed, done.missed) == (True, ())
    assert stage.names() == THEIRS | OURS
    assert stage.rules() >= rules | {
        ("search_notes", "continue_loop"),
        ("end_day", "exit_loop"),
        ("delete_note", "requires_approval"),
        ("send_message", "exit_loop"),
    }
    assert stage.plan().changes == ()
    assert stage.verify(examples=False).all_match


def test_letta_apply_restores_tool_rules_that_were_removed_from_the_agent(
    stage: Stage,
) -> None:
    stage.apply()
    stage.patch(tool_rules=[])
    assert "+ rule search_notes continue_loop of keeper" in " ".join(
        stage.verify(examples=False).differences
    )
    stage.apply()
    assert ("search_notes", "continue_loop") in stage.rules()
    assert ("delete_note", "requires_approval") in stage.rules()


def test_letta_apply_keeps_the_agents_llm_config_and_memory_tools(stage: Stage) -> None:
    model = stage.agent()["llm_config"]
    stage.apply()
    assert stage.agent()["llm_config"] == model
    assert {"memory_insert", "memory_replace"} <= stage.names()


def test_letta_rollback_restores_named_tools_after_all_were_detached(
    stage: Stage,
) -> None:
    """A rollback without names keeps them detached, as this can be intended."""
    stage.apply()
    stage.request("PATCH", f"/v1/agents/{stage.agent_id}", {"tool_ids": []})
    assert stage.names() == set()
    result = stage.roll_back()
    assert len([line for line in result.stays if "--restore" in line]) == len(THEIRS)
    assert stage.names() == set(), "the detachment can be intended"
    assert stage.roll_back(*THEIRS).lost == ()
    assert stage.names() == THEIRS


def test_letta_apply_detaches_a_manually_attached_tool_that_messages_the_agent(
    stage: Stage,
) -> None:
    stage.apply()
    tool_id = stage.find_tool("wake_agent")["id"]
    stage.request("PATCH", f"/v1/agents/{stage.agent_id}/tools/attach/{tool_id}")
    plan = stage.plan()
    assert [(change.action, change.name, change.detail) for change in plan.changes] == [
        ("-", "wake_agent", "detached: It calls the agent's own loop.")
    ]
    stage.apply(plan)
    assert stage.names() == THEIRS | OURS
    assert stage.find_tool("wake_agent") is not None


def test_letta_apply_keeps_more_attached_tools_than_a_list_page_contains(
    stage: Stage,
) -> None:
    """Letta lists an agent's tools in pages of ten and omits some."""
    many = [tool(f"many_{number:02}") for number in range(60)]
    with changing_mcp(*many) as theirs:
        stage.create_server_entry("theirs", url=theirs.url)
        listed = stage.request("GET", "/v1/tools/?limit=1000")
        ids = [
            registered["id"]
            for registered in listed
            if registered["name"].startswith("many_")
        ]
        attached = [registered["id"] for registered in stage.agent()["tools"]]
        stage.patch(tool_ids=[*attached, *ids])
        before = stage.names()
        assert len(before) == 60 + len(THEIRS)
        plan = stage.plan()
        assert len(plan.agents[0].tools_before) == 60 + len(THEIRS)
        stage.apply(plan)
        assert stage.names() == before | OURS


def test_letta_apply_removes_a_rule_for_a_missing_tool_named_in_drop_stale(
    stage: Stage,
) -> None:
    """With a stale `run_first` rule the model is offered no tools."""
    stage.patch(
        tool_rules=[
            *stage.agent()["tool_rules"],
            {"tool_name": "gone", "type": "run_first"},
        ]
    )
    plan = stage.plan()
    assert "gone" in " ".join([*plan.warnings, *(o.message for o in plan.blockers)])
    stage.apply(stage.plan(drop_stale=("gone",)))
    assert ("gone", "run_first") not in stage.rules()


def test_letta_apply_refuses_a_saved_plan_after_a_tool_was_attached_manually(
    stage: Stage,
) -> None:
    plan = stage.plan()
    tool_id = stage.find_tool("run_code_with_tools")["id"]
    stage.request("PATCH", f"/v1/agents/{stage.agent_id}/tools/attach/{tool_id}")
    with pytest.raises(PlanRefusedError, match="run_code_with_tools"):
        stage.apply(plan)
    assert stage.names() == THEIRS | {"run_code_with_tools"}
    stage.apply()
    assert stage.names() == THEIRS | OURS | {"run_code_with_tools"}


def test_letta_apply_refuses_a_saved_plan_after_tool_rules_were_removed(
    stage: Stage,
) -> None:
    """Letta Code removes the rules of agents that it opens."""
    plan = stage.plan()
    stage.patch(tool_rules=[])
    with pytest.raises(PlanRefusedError, match="rules"):
        stage.apply(plan)
    assert stage.names() == THEIRS


def test_letta_apply_attaches_a_manually_detached_tool_again(stage: Stage) -> None:
    stage.apply()
    tool_id = stage.find_tool("end_day")["id"]
    stage.request("PATCH", f"/v1/agents/{stage.agent_id}/tools/detach/{tool_id}")
    found = stage.verify(examples=False)
    assert not found.all_match
    assert found.differences == ("+ tool end_day of keeper (attached)",)
    stage.apply()
    assert stage.verify(examples=False).all_match


def test_letta_verify_calls_only_tools_that_do_not_change_data(stage: Stage) -> None:
    stage.apply()
    found = stage.verify()
    assert found.all_match
    passed = {trial.tool: trial.passed for trial in found.checks}
    assert passed == {"search_notes": True, "delete_note": None}
    assert [call.name for call in stage.mcp.calls] == ["search_notes"]
    assert stage.mcp.calls[0].headers["x-agent-id"] == stage.agent_id
    [count] = found.counts
    assert set(count.names) == THEIRS | OURS
    assert (set(count.gained), count.lost, count.canonical) == (OURS, (), 3)


def test_letta_rollback_restores_tools_and_rules_from_before_apply(
    stage: Stage,
) -> None:
    names, rules = stage.names(), stage.rules()
    stage.apply()
    stage.roll_back()
    assert (stage.names(), stage.rules()) == (names, rules)
    stage.apply()
    assert stage.names() == names | OURS
