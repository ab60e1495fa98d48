"""Concurrent applies and manual changes in between are detected and not overwritten."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_letta.plan.applying import apply_plan
from toolcast_letta.plan.backend import PlanRefusedError
from toolcast_letta.state.baseline import Baselines, ConcurrentRunError


def assert_apply_is_refused(toy: Any, plan: Any, *lines: str) -> None:
    names, rules = toy.names(), toy.rules()
    with pytest.raises(PlanRefusedError) as caught:
        toy.apply(plan)
    message_lines = str(caught.value).split("\n")
    assert message_lines == [
        "changes since the plan was made:",
        *lines,
        "make a new plan",
    ]
    assert (toy.names(), toy.rules()) == (names, rules)


def test_letta_apply_refuses_a_plan_after_a_tool_was_attached(toy: Any) -> None:
    plan = toy.plan()
    toy.world.attach(toy.agent, toy.world.add_custom_tool("by_hand"))
    assert_apply_is_refused(toy, plan, "`by_hand` was attached to keeper")
    toy.apply()
    assert "by_hand" in toy.names()


def test_letta_apply_stops_if_a_tool_is_attached_during_registration(toy: Any) -> None:
    plan = toy.plan()

    def attach(method: str, path: str) -> None:
        if (method, path) == ("POST", "/v1/mcp-servers/"):
            toy.world.attach(toy.agent, toy.world.add_custom_tool("by_hand"))

    toy.fake.faults.before = attach
    with pytest.raises(PlanRefusedError, match="`by_hand` was attached to keeper"):
        toy.apply(plan)
    assert "by_hand" in toy.names()
    assert "search_notes" not in toy.names()
    toy.fake.faults.before = None
    toy.apply()
    assert {"by_hand", "search_notes"} < set(toy.names())


def test_letta_apply_refuses_a_plan_after_a_tool_was_detached(toy: Any) -> None:
    plan = toy.plan()
    toy.agent.tool_ids.remove(toy.world.find_tool("their_tool").id)
    assert_apply_is_refused(toy, plan, "`their_tool` was detached from keeper")


def test_letta_apply_refuses_a_plan_after_a_tool_rule_was_changed(toy: Any) -> None:
    plan = toy.plan()
    toy.world.set_approval(toy.agent, "their_tool", True)
    assert_apply_is_refused(toy, plan, "the rules of keeper were changed")
    toy.apply()
    assert ("their_tool", "requires_approval") in toy.rules()


def test_letta_plan_keeps_a_manually_added_approval_rule(toy: Any) -> None:
    toy.apply()
    toy.world.set_approval(toy.agent, "search_notes", True)
    assert toy.plan().changes == ()
    assert ("search_notes", "requires_approval") in toy.rules()


def test_letta_apply_refuses_a_plan_after_all_tool_rules_were_removed(toy: Any) -> None:
    toy.apply()
    toy.project.edit("specs/toy/end_day.yaml", "End the day.", "End this day.")
    toy.deploy()
    plan = toy.plan()
    toy.agent.tool_rules = []
    assert_apply_is_refused(toy, plan, "the rules of keeper were changed")


def test_letta_apply_refuses_a_plan_after_the_mcp_server_changed_a_tool(
    toy: Any,
) -> None:
    plan = toy.plan()
    toy.mcp.tools["end_day"]["description"] = "Otherwise."
    assert_apply_is_refused(
        toy, plan, "the MCP server added, changed or removed `end_day`"
    )


def test_letta_apply_refuses_a_plan_after_the_specs_changed(toy: Any) -> None:
    plan = toy.plan()
    toy.project.edit("specs/toy/end_day.yaml", ", ends_turn: true", "")
    assert_apply_is_refused(toy, plan, "the specs or their settings have changed")


def test_letta_apply_refuses_a_plan_after_server_entry_or_registry_changed(
    toy: Any,
) -> None:
    toy.apply()
    toy.project.edit("specs/toy/end_day.yaml", "End the day.", "End this day.")
    toy.deploy()
    plan = toy.plan()
    toy.world.servers["http://else.test/mcp"] = toy.mcp
    toy.entry().config["server_url"] = "http://else.test/mcp"
    assert_apply_is_refused(toy, plan, "the entry `toy` was changed")
    toy.entry().config["server_url"] = "http://mcp.test/mcp"
    toy.world.find_tool("search_notes").json_schema["description"] = "Mine."
    assert_apply_is_refused(toy, plan, "`search_notes` was changed in the registry")


def test_letta_apply_refuses_a_plan_made_for_another_letta_server(
    toy: Any, make_toy: Any
) -> None:
    other = make_toy()
    assert_apply_is_refused(
        other, toy.plan(), f"the plan is for {toy.fake.url}, not for {other.fake.url}"
    )


def test_second_concurrent_letta_apply_is_refused(toy: Any) -> None:
    plan = toy.plan()
    baselines = Baselines(toy.state)
    with (
        baselines.lock(),
        pytest.raises(ConcurrentRunError, match="another apply or rollback is running"),
    ):
        toy.apply(plan)
    assert toy.entry() is None
    toy.apply(plan)


def test_letta_plan_applied_again_on_a_second_machine_changes_nothing(
    toy: Any, tmp_path: Any
) -> None:
    plan = toy.plan()
    toy.apply(plan)
    done = apply_plan(plan, toy.backend(state=tmp_path / "elsewhere"), toy.desired())
    assert done.missed == ()
    patches = [
        sent_request
        for sent_request in toy.fake.faults.seen
        if sent_request[1].startswith("/v1/agents")
    ]
    assert [method for method, _ in patches].count("PATCH") == 1, "nothing was left"


def test_older_letta_plan_from_a_second_machine_is_refused(
    toy: Any, tmp_path: Any
) -> None:
    """The first machine's apply invalidates the plan of the second."""
    older = toy.plan()
    desired = toy.desired()
    toy.project.edit(
        "specs/toy/end_day.yaml",
        "{attached: true, ends_turn: true}",
        "{attached: false, reason: Days do not end.}",
    )
    toy.deploy()
    toy.apply()
    names = toy.names()
    with pytest.raises(PlanRefusedError, match="the rules of keeper were changed"):
        apply_plan(older, toy.backend(state=tmp_path / "elsewhere"), desired)
    assert toy.names() == names


def test_letta_apply_reports_a_tool_attached_just_before_its_update_request(
    toy: Any,
) -> None:
    """A change between the last read and the request cannot be prevented."""
    plan = toy.plan()
    done = toy.apply(plan)
    assert done.missed == ()
    toy.project.edit("specs/toy/end_day.yaml", "End the day.", "End this day.")
    toy.deploy()
    plan = toy.plan()
    looked = {"agents": 0}

    def attach(method: str, path: str) -> None:
        if method == "GET" and path == f"/v1/agents/{toy.agent_id}":
            looked["agents"] += 1
            if looked["agents"] == 3:
                made = toy.world.add_custom_tool("in_the_gap")
                toy.world.attach(toy.agent, made)

    toy.fake.faults.before = attach
    done = toy.apply(plan)
    assert done.missed == ("another client attached `in_the_gap` to keeper",)
    assert "in_the_gap" in toy.names()
