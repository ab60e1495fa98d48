"""Plan and apply on a Letta server without faults or concurrent changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolcast_letta.plan.backend import PlanRefusedError
from toolcast_letta.plan.report import format_plan

THEIRS = {
    "their_tool",
    "archival_memory_search",
    "conversation_search",
    "memory_insert",
    "memory_replace",
    "send_message",
}
OURS = {"search_notes", "delete_note", "end_day"}


def test_first_letta_plan_lists_all_additions_and_changes_nothing(toy: Any) -> None:
    plan = toy.plan()
    assert format_plan(plan) == (
        f"toy on Letta 0.16.6 at {toy.fake.url}\n"
        f"keeper is {toy.agent_id}, a memgpt_v2_agent\n"
        "\n"
        "  MCP server entry\n"
        "    + toy  (streamable HTTP at http://mcp.test/mcp, with a bearer token"
        " (not shown))  # rollback keeps the entry\n"
        "\n"
        "  registry, for every agent of the organization\n"
        "    + delete_note, end_day, list_plain, search_notes,\n"
        "      wake_agent  (registered)  # rollback keeps it registered\n"
        "\n"
        "  tools of keeper\n"
        "    + delete_note, end_day, search_notes  (attached)\n"
        "\n"
        "  rules of keeper\n"
        "    + delete_note, search_notes, archival_memory_search  continue_loop\n"
        "    + end_day  exit_loop\n"
        "    + delete_note  requires_approval\n"
        "\n"
        "  keeper keeps archival_memory_search, conversation_search, memory_insert,\n"
        "               memory_replace, send_message, their_tool\n"
        "\n"
        "warning: keeper, a memgpt_v2_agent, ends its turn after tools that have no"
        " rule to continue: `their_tool`; applying does not change the rules of other"
        " owners' tools\n"
        "\n"
        "Plan: 14 to add, 0 to change, 0 to remove.\n"
    )
    changing = [item for item in toy.fake.faults.seen if item[0] != "GET"]
    assert changing == [("POST", "/v1/tools/mcp/servers/test")], "it only looks"


def test_letta_apply_updates_the_agent_in_a_single_request_and_keeps_other_tools(
    toy: Any,
) -> None:
    before = toy.rules()
    done = toy.apply()
    assert (done.tools, done.changed, done.missed) == (9, True, ())
    assert set(toy.names()) == THEIRS | OURS
    assert before < toy.rules()
    assert toy.rules() - before == {
        ("search_notes", "continue_loop"),
        ("delete_note", "continue_loop"),
        ("delete_note", "requires_approval"),
        ("end_day", "exit_loop"),
        ("archival_memory_search", "continue_loop"),
    }
    agent = f"/v1/agents/{toy.agent_id}"
    patches = [item for item in toy.fake.faults.seen if item == ("PATCH", agent)]
    assert len(patches) == 1


def test_second_letta_apply_sends_only_get_requests(toy: Any) -> None:
    toy.apply()
    toy.fake.faults.seen.clear()
    plan = toy.plan()
    assert plan.changes == ()
    assert "No changes" in format_plan(plan)
    assert not toy.apply(plan).changed
    assert {method for method, _ in toy.fake.faults.seen} == {"GET"}


def test_letta_apply_adds_no_continue_rules_to_a_letta_v1_agent(
    make_toy: Callable[..., Any],
) -> None:
    from letta.tests.toy import TOOLSET

    text = TOOLSET.replace("memgpt_v2_agent", "letta_v1_agent")
    toy = make_toy(toolset=text, agent_type="letta_v1_agent")
    before = toy.rules()
    toy.apply()
    assert toy.rules() - before == {
        ("delete_note", "requires_approval"),
        ("end_day", "exit_loop"),
        ("send_message", "exit_loop"),
    }


def test_letta_plan_is_refused_if_the_agent_type_differs_from_the_specs(
    make_toy: Callable[..., Any],
) -> None:
    toy = make_toy(agent_type="letta_v1_agent")
    plan = toy.plan()
    assert [item.code for item in plan.blockers] == ["agent-type"]
    with pytest.raises(PlanRefusedError, match="letta_v1_agent"):
        toy.apply(plan)
    assert toy.entry() is None


def test_saved_letta_plan_is_loaded_unchanged_and_refused_if_edited(
    toy: Any, tmp_path: Any
) -> None:
    from toolcast_letta.plan.plan import Plan
    from toolcast_letta.state.seal import ForeignFileError, Seal

    file = tmp_path / "plan.json"
    plan = toy.plan()
    plan.save(file, Seal())
    loaded = Plan.load(file, Seal())
    assert loaded.id == plan.id
    assert loaded.changes == plan.changes
    text = file.read_text()
    assert "s3cret" not in text
    file.write_text(text.replace("exit_loop", "continue_loop"))
    with pytest.raises(ForeignFileError, match="was changed after"):
        Plan.load(file, Seal())
    assert toy.apply(loaded).changed


def test_mcp_server_token_is_in_no_state_file_and_no_apply_message(toy: Any) -> None:
    toy.apply()
    for file in toy.state.rglob("*"):
        assert "s3cret" not in file.read_text(), file
    assert "s3cret" not in "\n".join(toy.messages)
    headers = toy.entry().config["custom_headers"]
    assert headers == {"Authorization": "Bearer s3cret-token-of-the-mcp-server"}
