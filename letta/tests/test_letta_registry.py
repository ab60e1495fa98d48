"""The registry of an organization: tools of other owners, refreshes and stored schemas."""

from __future__ import annotations

from typing import Any

import pytest

from letta.tests.toy import TOOLS, TOOLSET
from toolcast_letta.plan.backend import PlanRefusedError
from toolcast_letta.plan.plan import Overrides
from toolcast_letta.v1.api import LettaError


def test_letta_apply_stops_if_letta_did_not_register_a_tool(toy: Any) -> None:
    before = toy.names()
    plan = toy.plan()

    def lose(method: str, path: str) -> None:
        gone = toy.world.find_tool("end_day")
        if method == "GET" and path == "/v1/tools/" and gone:
            toy.world.delete_tool(gone.id)

    toy.fake.faults.before = lose
    with pytest.raises(PlanRefusedError, match="Letta did not register `end_day`"):
        toy.apply(plan)
    assert toy.names() == before


def test_letta_plan_takes_over_a_custom_tool_name_only_if_named(toy: Any) -> None:
    """Require `--allow-capture` for a name that a custom tool already has."""
    toy.world.add_custom_tool("end_day")
    toy.assert_plan_is_refused("capture")
    toy.apply(toy.plan(Overrides(capture=("end_day",))))
    assert toy.world.find_tool("end_day").tool_type == "external_mcp"
    assert toy.verify().all_match


@pytest.mark.parametrize("name", ["core_memory_append", "send_message", "memory"])
def test_letta_plan_never_replaces_built_in_letta_tools(
    make_toy: Any, name: str
) -> None:
    """Refuse `--allow-capture` for an MCP tool with a built-in tool's name."""
    toolset = TOOLSET.replace("expects: [send_message]", "expects: []")
    toolset = toolset.replace("ends_turn: [send_message]", "ends_turn: []")
    toy = make_toy(TOOLS, toolset)
    toy.mcp.offer({"name": name, "inputSchema": {"type": "object"}})
    kind = toy.world.find_tool(name).tool_type
    toy.assert_plan_is_refused("capture", overrides=Overrides(capture=(name,)))
    assert toy.world.find_tool(name).tool_type == kind


def test_letta_apply_keeps_foreign_tools_that_have_a_previous_tool_name(
    toy: Any,
) -> None:
    """Keep custom tools whose names are in `renamed_from` in a spec."""
    toy.project.edit(
        "specs/toy/end_day.yaml",
        "handler:",
        "renamed_from: [stop_day, close_day]\nhandler:",
    )
    agent = toy.agent
    for name in ("stop_day", "close_day"):
        toy.world.attach(agent, toy.world.add_custom_tool(name))
    agent.tool_rules.append({"tool_name": "stop_day", "type": "continue_loop"})
    toy.deploy()
    toy.apply()
    assert {"stop_day", "close_day", "end_day"} < set(toy.names())
    assert ("stop_day", "continue_loop") in toy.rules()
    assert toy.verify().all_match


def test_letta_plan_does_not_reset_settings_for_built_in_tools(toy: Any) -> None:
    """A filtered list request makes Letta restore built-in tools and their settings."""
    toy.world.find_tool("run_code").default_requires_approval = True
    toy.plan()
    assert toy.world.find_tool("run_code").default_requires_approval is True


def test_letta_apply_stops_without_refresh_if_offered_tools_changed(toy: Any) -> None:
    toy.apply()
    toy.project.edit("specs/toy/end_day.yaml", "End the day.", "End this day.")
    toy.deploy()
    plan = toy.plan()
    live = {"looked": 0}

    def deploy(method: str, path: str) -> None:
        if path == "/v1/tools/mcp/servers/toy/tools":
            live["looked"] += 1
            if live["looked"] == 2:
                toy.mcp.tools.clear()

    toy.fake.faults.before = deploy
    with pytest.raises(LettaError, match="the tools of the MCP server have changed"):
        toy.apply(plan)
    assert not [path for _, path in toy.fake.faults.seen if path.endswith("/refresh")]
    assert "end_day" in toy.names()


def test_letta_apply_is_refused_if_another_agent_now_uses_a_tool_to_delete(
    toy: Any,
) -> None:
    toy.apply()
    (toy.project.root / "specs/toy/end_day.yaml").unlink()
    toy.deploy()
    plan = toy.plan()
    assert not plan.blockers
    toy.world.create_agent({"name": "other", "tools": ["end_day"]})
    with pytest.raises(PlanRefusedError, match="would remove it from other agents"):
        toy.apply(plan)
    assert toy.world.find_tool("end_day") is not None


def test_letta_apply_registers_tools_separately_beyond_50_registry_tools(
    make_toy: Any,
) -> None:
    many = {
        f"tool_{number:02}": TOOLS["end_day"].replace("End the day", f"Do {number}")
        for number in range(30)
    }
    toy = make_toy({**TOOLS, **many})
    toy.apply()
    assert len(toy.names()) == 6 + 33
    doubles = len(toy.world.mcp_tools)
    toy.world.find_tool("tool_07").return_char_limit = 77
    toy.world.find_tool("tool_07").default_requires_approval = True
    toy.project.edit("specs/toy/tool_07.yaml", "Do 7.", "Do 7 again.")
    toy.deploy()
    toy.fake.faults.seen.clear()
    toy.apply()
    seen = [
        sent_request
        for sent_request in toy.fake.faults.seen
        if sent_request[0] != "GET"
    ]
    tool = toy.world.find_tool("tool_07")
    assert seen == [
        ("POST", "/v1/tools/mcp/servers/toy/tool_07"),
        ("PATCH", f"/v1/tools/{tool.id}"),
        ("PATCH", f"/v1/agents/{toy.agent_id}"),
    ]
    assert (tool.description, tool.return_char_limit) == ("Do 7 again.", 77)
    assert tool.default_requires_approval is True
    assert ("tool_07", "requires_approval") in toy.rules(), "PATCH does not bring it"
    assert len(toy.world.mcp_tools) == doubles + 1, "no refresh added rows for ever"
    assert toy.verify().all_match


def test_letta_apply_refreshes_the_mcp_server_only_up_to_50_registry_tools(
    toy: Any,
) -> None:
    toy.apply()
    for number in range(50 - len(toy.world.tools)):
        toy.world.add_custom_tool(f"other_{number}")

    def list_update_requests(old: str, new: str) -> list[tuple[str, str]]:
        """Return the requests of an apply after a tool's text has changed."""
        toy.project.edit("specs/toy/end_day.yaml", old, new)
        toy.deploy()
        toy.fake.faults.seen.clear()
        toy.apply()
        assert toy.world.find_tool("end_day").description == new
        return [
            sent_request
            for sent_request in toy.fake.faults.seen
            if sent_request[0] != "GET"
        ]

    refresh = f"/v1/mcp-servers/{toy.entry().id}/refresh"
    assert list_update_requests("End the day.", "End this day.") == [("PATCH", refresh)]
    toy.world.add_custom_tool("one_more")
    assert list_update_requests("End this day.", "End the day.") == [
        ("POST", "/v1/tools/mcp/servers/toy/end_day")
    ]


def test_letta_plan_has_no_change_for_schemas_that_letta_normalized(
    make_toy: Any,
) -> None:
    """Compare a spec's schema with the schema that Letta stores for it."""
    nested = """
        summary: Nest.
        parameters:
          type: object
          properties:
            place: {$ref: "#/$defs/Place"}
            many: {type: array, items: {$ref: "#/$defs/Place"}}
            free: {type: object, additionalProperties: true}
            either: {anyOf: [{type: string}, {$ref: "#/$defs/Place"}, {type: string, format: date}]}
          $defs:
            Place: {type: object, properties: {x: {type: number}, request: {type: object}}}
        handler: handlers.toy:work
        letta: {attached: true}
        """
    toy = make_toy({**TOOLS, "nest": nested})
    toy.apply()
    stored = toy.world.find_tool("nest").json_schema["parameters"]
    assert "request_heartbeat" in stored["properties"]
    assert stored["properties"]["place"]["additionalProperties"] is False
    assert toy.plan().changes == ()
