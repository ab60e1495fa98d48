"""Tools and rules of agents after changes by other clients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from letta.tests.toy import TOOLSET
from toolcast_letta.plan.plan import Overrides
from toolcast_letta.v1.api import LettaError


def test_letta_apply_sends_only_tool_ids_and_tool_rules_in_a_single_agent_update(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[Any] = []
    update = toy.world.update_agent

    def record_update(agent: Any, body: Any) -> None:
        bodies.append(body)
        update(agent, body)

    monkeypatch.setattr(toy.world, "update_agent", record_update)
    model = dict(toy.agent.llm_config)
    toy.apply()
    assert [sorted(body) for body in bodies] == [["tool_ids", "tool_rules"]]
    assert toy.agent.llm_config == model


def test_letta_apply_restores_all_tool_rules_removed_from_the_agent(toy: Any) -> None:
    toy.apply()
    toy.agent.tool_rules = []
    found = toy.verify(examples=False)
    assert not found.all_match
    assert (
        "ends its turn after tools that have no rule to continue: `their_tool`"
        in found.plan.warnings[0]
    )
    toy.apply()
    assert toy.rules() == {
        ("delete_note", "continue_loop"),
        ("delete_note", "requires_approval"),
        ("end_day", "exit_loop"),
        ("search_notes", "continue_loop"),
        ("send_message", "exit_loop"),
        # Without a continue rule, built-in tools also end the turn.
        ("archival_memory_search", "continue_loop"),
        ("conversation_search", "continue_loop"),
        ("memory_insert", "continue_loop"),
        ("memory_replace", "continue_loop"),
    }


def test_letta_apply_replaces_a_manual_exit_rule_with_the_continue_rule(
    toy: Any,
) -> None:
    toy.apply()
    for rule in toy.agent.tool_rules:
        if (rule["tool_name"], rule["type"]) == ("search_notes", "continue_loop"):
            rule["type"] = "exit_loop"
    toy.apply()
    assert ("search_notes", "continue_loop") in toy.rules()
    assert ("search_notes", "exit_loop") not in toy.rules()


def test_letta_apply_keeps_memory_tools_that_the_letta_sdk_does_not_list(
    make_toy: Any,
) -> None:
    toolset = TOOLSET.replace("memgpt_v2_agent", "memgpt_agent")
    toy = make_toy(toolset=toolset, agent_type="memgpt_agent")
    from letta_client import Letta

    assert Letta(base_url=toy.fake.url).agents.retrieve(toy.agent_id).tools == []
    before = set(toy.names())
    assert {"core_memory_append", "core_memory_replace"} < before
    toy.apply()
    assert set(toy.names()) == before | {"search_notes", "delete_note", "end_day"}


def test_letta_apply_attaches_a_recreated_expected_tool_again(toy: Any) -> None:
    """A captured and deleted built-in tool has a new id and is attached to no agent."""
    toy.apply()
    toy.world.delete_tool(toy.world.find_tool("send_message").id)
    plan = toy.plan()
    assert [(o.action, o.layer, o.name) for o in plan.changes] == [
        ("+", "tool", "send_message")
    ]
    toy.apply(plan)
    assert "send_message" in toy.names()


def test_letta_apply_attaches_tools_to_both_agents_in_the_toolset(
    make_toy: Callable[..., Any],
) -> None:
    toolset = TOOLSET + "    helper: {id_env: HELPER_AGENT_ID}\n"
    toy = make_toy(toolset=toolset)
    helper = toy.world.create_agent({"name": "helper"})
    toy.environment["HELPER_AGENT_ID"] = helper.id
    toy.apply()
    names = {tool.name for tool in toy.world.list_attached_tools(helper)}
    assert {"search_notes", "delete_note", "end_day"} < names
    rules = {(rule["tool_name"], rule["type"]) for rule in helper.tool_rules}
    assert rules == {("delete_note", "requires_approval"), ("end_day", "exit_loop")}
    assert toy.verify(examples=False).all_match


def test_letta_apply_moves_tool_rules_to_the_new_name_after_a_refresh(toy: Any) -> None:
    """The refresh deletes and detaches the previous tool and keeps its rules."""
    toy.apply()
    toy.rename("search_notes", "find_notes")
    limit = {"tool_name": "search_notes", "type": "max_count_per_step"}
    toy.agent.tool_rules.append({**limit, "max_count_limit": 3})
    toy.world.refresh(toy.entry())
    assert "search_notes" not in toy.names()
    toy.apply()
    assert "find_notes" in toy.names()
    assert ("find_notes", "max_count_per_step") in toy.rules()
    assert not [name for name, _ in toy.rules() if name == "search_notes"]


def test_letta_plan_removes_a_stale_tool_rule_only_with_drop_stale(toy: Any) -> None:
    toy.apply()
    stale = {"tool_name": "gone_tool", "type": "run_first", "args": None}
    toy.agent.tool_rules.append({**stale, "prompt_template": None})
    plan = toy.plan()
    assert plan.changes == ()
    assert "--drop-stale gone_tool to remove it" in plan.warnings[0]
    plan = toy.plan(Overrides(drop_stale=("gone_tool",)))
    assert [(o.action, o.name) for o in plan.changes] == [("-", "gone_tool run_first")]
    toy.apply(plan)
    assert ("gone_tool", "run_first") not in toy.rules()
    assert ("their_tool", "max_count_per_step") in toy.rules()


def test_letta_apply_adds_no_approval_rule_for_a_foreign_tools_default_approval(
    toy: Any,
) -> None:
    toy.world.find_tool("their_tool").default_requires_approval = True
    toy.apply()
    assert ("their_tool", "requires_approval") not in toy.rules()


def test_letta_apply_adds_an_approval_rule_for_an_own_tools_default_approval(
    toy: Any,
) -> None:
    toy.apply()
    toy.world.find_tool("search_notes").default_requires_approval = True
    toy.apply()
    assert ("search_notes", "requires_approval") in toy.rules()


def test_letta_verify_warns_about_an_agent_opened_by_letta_code(toy: Any) -> None:
    toy.apply()
    toy.agent.tags.append("origin:letta-code")
    toy.agent.tool_rules = []
    found = toy.verify(examples=False)
    assert not found.all_match
    assert "Letta Code opens" in found.plan.warnings[0]


def test_letta_plan_for_an_unknown_agent_id_raises_letta_error(toy: Any) -> None:
    toy.agent_id = "agent-00000000-0000-4000-8000-000000000000"
    with pytest.raises(LettaError, match="Letta has no agent agent-0000"):
        toy.plan()


@pytest.mark.parametrize("name", ["core_memory_append", "core_memory_replace"])
def test_letta_verify_reports_a_detached_memgpt_core_memory_tool(
    make_toy: Any, name: str
) -> None:
    """The loss is reported even if other tools could replace it."""
    from letta.tests.toy import TOOLSET

    text = TOOLSET.replace("memgpt_v2_agent", "memgpt_agent")
    toy = make_toy(toolset=text, agent_type="memgpt_agent")
    toy.apply()
    assert toy.verify(examples=False).all_match
    toy.agent.tool_ids.remove(toy.world.find_tool(name).id)
    found = toy.verify(examples=False)
    assert not found.all_match
    assert [f"`{name}` was detached from" in line for line in found.differences] == [
        True
    ]
    for other in ("core_memory_append", "core_memory_replace", "memory"):
        kept = [t for t in toy.agent.tool_ids if toy.world.tools[t].name != other]
        toy.agent.tool_ids = kept
    differences = "\n".join(toy.verify(examples=False).differences)
    assert (
        "`memory_insert` or `core_memory_append` or `memory`, which a memgpt"
        in differences
    )
