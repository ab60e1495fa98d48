"""Two at once, and somebody else's hands in between: seen, and nothing overwritten."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_letta.plan.applying import apply_plan
from toolcast_letta.plan.backend import PlanRefusedError
from toolcast_letta.state.baseline import Baselines, ConcurrentRunError


def stopped(toy: Any, plan: Any, *lines: str) -> None:
    names, rules = toy.names(), toy.rules()
    with pytest.raises(PlanRefusedError) as caught:
        toy.apply(plan)
    said = str(caught.value).split("\n")
    assert said == ["changes since the plan was made:", *lines, "make a new plan"]
    assert (toy.names(), toy.rules()) == (names, rules)


def test_a_tool_attached_by_hand_since_the_plan(toy: Any) -> None:
    plan = toy.plan()
    toy.world.attach(toy.agent, toy.world.add_custom_tool("by_hand"))
    stopped(toy, plan, "`by_hand` was attached to keeper")
    toy.apply()
    assert "by_hand" in toy.names()


def test_a_tool_attached_by_hand_while_apply_registers(toy: Any) -> None:
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


def test_a_tool_detached_or_made_anew_by_hand(toy: Any) -> None:
    plan = toy.plan()
    toy.agent.tool_ids.remove(toy.world.find_tool("their_tool").id)
    stopped(toy, plan, "`their_tool` was detached from keeper")


def test_a_rule_changed_by_hand(toy: Any) -> None:
    plan = toy.plan()
    toy.world.set_approval(toy.agent, "their_tool", True)
    stopped(toy, plan, "the rules of keeper were changed")
    toy.apply()
    assert ("their_tool", "requires_approval") in toy.rules()


def test_an_approval_by_hand_stays(toy: Any) -> None:
    toy.apply()
    toy.world.set_approval(toy.agent, "search_notes", True)
    assert toy.plan().changes == ()
    assert ("search_notes", "requires_approval") in toy.rules()


def test_an_agent_that_something_else_opened(toy: Any) -> None:
    """Letta Code clears every rule of an agent that it opens."""
    toy.apply()
    toy.project.edit("specs/toy/end_day.yaml", "End the day.", "End this day.")
    toy.deploy()
    plan = toy.plan()
    toy.agent.tool_rules = []
    stopped(toy, plan, "the rules of keeper were changed")


def test_the_server_was_deployed_again(toy: Any) -> None:
    plan = toy.plan()
    toy.mcp.tools["end_day"]["description"] = "Otherwise."
    stopped(toy, plan, "the MCP server added, changed or removed `end_day`")


def test_the_specs_were_edited(toy: Any) -> None:
    plan = toy.plan()
    toy.project.edit("specs/toy/end_day.yaml", ", ends_turn: true", "")
    stopped(
        toy,
        plan,
        "the specs or their settings have changed",
    )


def test_the_entry_or_the_registry_was_changed(toy: Any) -> None:
    toy.apply()
    toy.project.edit("specs/toy/end_day.yaml", "End the day.", "End this day.")
    toy.deploy()
    plan = toy.plan()
    toy.world.servers["http://else.test/mcp"] = toy.mcp
    toy.entry().config["server_url"] = "http://else.test/mcp"
    stopped(toy, plan, "the entry `toy` was changed")
    toy.entry().config["server_url"] = "http://mcp.test/mcp"
    toy.world.find_tool("search_notes").json_schema["description"] = "Mine."
    stopped(toy, plan, "`search_notes` was changed in the registry")


def test_a_plan_for_another_server(toy: Any, make_toy: Any) -> None:
    other = make_toy()
    stopped(
        other,
        toy.plan(),
        f"the plan is for {toy.fake.url}, not for {other.fake.url}",
    )


def test_one_apply_at_a_time(toy: Any) -> None:
    plan = toy.plan()
    baselines = Baselines(toy.state)
    with (
        baselines.lock(),
        pytest.raises(ConcurrentRunError, match="another apply or rollback is running"),
    ):
        toy.apply(plan)
    assert toy.entry() is None
    toy.apply(plan)


def test_two_machines_apply_the_same_plan_one_behind_the_other(
    toy: Any, tmp_path: Any
) -> None:
    plan = toy.plan()
    toy.apply(plan)
    done = apply_plan(plan, toy.backend(state=tmp_path / "elsewhere"), toy.desired())
    assert done.missed == ()
    patches = [one for one in toy.fake.faults.seen if one[1].startswith("/v1/agents")]
    assert [method for method, _ in patches].count("PATCH") == 1, "nothing was left"


def test_two_machines_with_different_plans(toy: Any, tmp_path: Any) -> None:
    """The second one's plan is old as soon as the first one is done."""
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


def test_two_agents_changed_at_the_last_moment_are_noticed_behind_it(toy: Any) -> None:
    """Between the last look and the request there is no way to see it; behind it is."""
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
