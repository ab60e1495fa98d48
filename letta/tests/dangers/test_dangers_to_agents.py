"""Dangers to the tools and rules of an agent, each planted and seen refused or repaired.

The same tests run on the fake, and with `make test-letta-real` on a real server. What a server does
by itself is in the recorded contract; here is what the commands make of it.
"""

from __future__ import annotations

import pytest

from letta.tests.changing_mcp import changing_mcp, tool
from letta.tests.stage import OURS, THEIRS, Stage
from toolcast_letta.plan.backend import PlanRefusedError


def test_tools_come_with_their_rules_and_nothing_is_lost(stage: Stage) -> None:
    """Danger A, the silent loss of rules; and that of everybody else's tools."""
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


def test_rules_that_somebody_wiped_come_back(stage: Stage) -> None:
    """Danger A, done by hand."""
    stage.apply()
    stage.patch(tool_rules=[])
    assert "+ rule search_notes continue_loop of keeper" in " ".join(
        stage.verify(examples=False).differences
    )
    stage.apply()
    assert ("search_notes", "continue_loop") in stage.rules()
    assert ("delete_note", "requires_approval") in stage.rules()


def test_the_model_is_never_sent_and_memory_tools_stay(stage: Stage) -> None:
    """Danger B."""
    model = stage.agent()["llm_config"]
    stage.apply()
    assert stage.agent()["llm_config"] == model
    assert {"memory_insert", "memory_replace"} <= stage.names()


def test_a_list_of_tools_that_wiped_others_is_rolled_back(stage: Stage) -> None:
    """Danger B: somebody replaced all tools with one; the baseline knows the others."""
    stage.apply()
    stage.ask("PATCH", f"/v1/agents/{stage.agent_id}", {"tool_ids": []})
    assert stage.names() == set()
    left = stage.roll_back()
    assert len([one for one in left.stays if "--restore" in one]) == len(THEIRS)
    assert stage.names() == set(), "who detached them may have wanted it"
    assert stage.roll_back(*THEIRS).lost == ()
    assert stage.names() == THEIRS


def test_a_circular_tool_that_somebody_attached_is_taken_away(stage: Stage) -> None:
    """Danger D."""
    stage.apply()
    tool_id = stage.registered("wake_agent")["id"]
    stage.ask("PATCH", f"/v1/agents/{stage.agent_id}/tools/attach/{tool_id}")
    plan = stage.plan()
    assert [(one.action, one.name, one.detail) for one in plan.changes] == [
        ("-", "wake_agent", "detached: It calls the agent's own loop.")
    ]
    stage.apply(plan)
    assert stage.names() == THEIRS | OURS
    assert stage.registered("wake_agent") is not None


def test_more_tools_than_a_list_shows_are_kept(stage: Stage) -> None:
    """The agent's tools come ten at a time, with a cursor that loses some."""
    many = [tool(f"many_{number:02}") for number in range(60)]
    with changing_mcp(*many) as theirs:
        stage.new_server("theirs", url=theirs.url)
        listed = stage.ask("GET", "/v1/tools/?limit=1000")
        ids = [one["id"] for one in listed if one["name"].startswith("many_")]
        mine = [one["id"] for one in stage.agent()["tools"]]
        stage.patch(tool_ids=[*mine, *ids])
        before = stage.names()
        assert len(before) == 60 + len(THEIRS)
        plan = stage.plan()
        assert len(plan.agents[0].tools_before) == 60 + len(THEIRS)
        stage.apply(plan)
        assert stage.names() == before | OURS


def test_a_rule_of_a_tool_that_is_gone_is_only_dropped_when_named(
    stage: Stage,
) -> None:
    """A stale `run_first` leaves the model without any tool."""
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


def test_what_was_attached_by_hand_in_between_stops_apply(stage: Stage) -> None:
    plan = stage.plan()
    tool_id = stage.registered("run_code_with_tools")["id"]
    stage.ask("PATCH", f"/v1/agents/{stage.agent_id}/tools/attach/{tool_id}")
    with pytest.raises(PlanRefusedError, match="run_code_with_tools"):
        stage.apply(plan)
    assert stage.names() == THEIRS | {"run_code_with_tools"}
    stage.apply()
    assert stage.names() == THEIRS | OURS | {"run_code_with_tools"}


def test_rules_that_somebody_changed_in_between_stop_apply(stage: Stage) -> None:
    """Letta Code wipes the rules of agents that it opens."""
    plan = stage.plan()
    stage.patch(tool_rules=[])
    with pytest.raises(PlanRefusedError, match="rules"):
        stage.apply(plan)
    assert stage.names() == THEIRS


def test_a_tool_that_somebody_detached_is_found_and_attached(stage: Stage) -> None:
    stage.apply()
    tool_id = stage.registered("end_day")["id"]
    stage.ask("PATCH", f"/v1/agents/{stage.agent_id}/tools/detach/{tool_id}")
    found = stage.verify(examples=False)
    assert not found.all_match
    assert found.differences == ("+ tool end_day of keeper (attached)",)
    stage.apply()
    assert stage.verify(examples=False).all_match


def test_verify_calls_without_a_model_what_may_be_called(stage: Stage) -> None:
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


def test_a_rollback_leaves_what_was_there_before(stage: Stage) -> None:
    names, rules = stage.names(), stage.rules()
    stage.apply()
    stage.roll_back()
    assert (stage.names(), stage.rules()) == (names, rules)
    stage.apply()
    assert stage.names() == names | OURS
