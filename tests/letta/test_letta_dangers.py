"""Each danger and each trap of a real Letta, planted: refused, or repaired."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.letta.fake_letta import Fault, PlantedServer
from tests.letta.test_letta_changes import verified
from tests.letta.toy import MCP, TOKEN, TOOLS, TOOLSET
from toolcast.runtime.letta_api import LettaApi, LettaError, Unsure
from toolcast.runtime.letta_applying import Refused
from toolcast.runtime.letta_attachment import MissingSetting
from toolcast.runtime.letta_plan import Permits


def codes(plan: Any) -> list[str]:
    return [objection.code for objection in plan.objections]


def agent_of(toy: Any) -> Any:
    return toy.world.agents[toy.agent_id]


def refused(toy: Any, *expected: str, **more: Any) -> None:
    """The plan has these objections, and applying it changes nothing."""
    plan = toy.plan(**more)
    assert codes(plan) == list(expected)
    toy.fake.faults.seen.clear()
    with pytest.raises(Refused):
        toy.apply(plan)
    assert toy.fake.faults.seen == []


# -- the runbook's dangers ------------------------------------------------------------


def test_a_tools_and_rules_go_together_and_nothing_else(
    toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[Any] = []
    update = toy.world.update_agent

    def watched(agent: Any, body: Any) -> None:
        bodies.append(body)
        update(agent, body)

    monkeypatch.setattr(toy.world, "update_agent", watched)
    model = dict(agent_of(toy).llm_config)
    toy.apply()
    assert [sorted(body) for body in bodies] == [["tool_ids", "tool_rules"]]
    assert agent_of(toy).llm_config == model


def test_a_rules_that_were_wiped_come_back(toy: Any) -> None:
    toy.apply()
    agent_of(toy).tool_rules = []
    found = verified(toy, examples=False)
    assert not found.all_match
    assert "has no rule at all" in found.plan.warnings[0]
    toy.apply()
    assert toy.rules() == {
        ("delete_note", "continue_loop"),
        ("delete_note", "requires_approval"),
        ("end_day", "exit_loop"),
        ("search_notes", "continue_loop"),
        ("send_message", "exit_loop"),
    }


def test_a_an_exit_rule_by_hand_does_not_end_turns(toy: Any) -> None:
    toy.apply()
    for rule in agent_of(toy).tool_rules:
        if (rule["tool_name"], rule["type"]) == ("search_notes", "continue_loop"):
            rule["type"] = "exit_loop"
    toy.apply()
    assert ("search_notes", "continue_loop") in toy.rules()
    assert ("search_notes", "exit_loop") not in toy.rules()


def test_b_memory_tools_stay_although_the_library_shows_none(make_toy: Any) -> None:
    toolset = TOOLSET.replace("memgpt_v2_agent", "memgpt_agent")
    toy = make_toy(toolset=toolset, agent_type="memgpt_agent")
    from letta_client import Letta

    assert Letta(base_url=toy.fake.url).agents.retrieve(toy.agent_id).tools == []
    before = set(toy.names())
    assert {"core_memory_append", "core_memory_replace"} < before
    toy.apply()
    assert set(toy.names()) == before | {"search_notes", "delete_note", "end_day"}


def test_b_every_tool_is_seen_past_the_pages(toy: Any) -> None:
    agent = agent_of(toy)
    for number in range(60):
        toy.world.attach(agent, toy.world.custom_tool(f"theirs_{number:02}"))
    plan = toy.plan()
    assert len(plan.agents[0].before) == 66
    toy.apply(plan)
    assert len(toy.names()) == 69


def test_c_a_server_that_is_away_is_no_empty_server(toy: Any) -> None:
    toy.mcp.is_down = True
    refused(toy, "unreachable")
    toy.mcp.is_down = False
    toy.apply()
    toy.mcp.is_down = True
    refused(toy, "unreachable")


def test_c_a_tool_that_letta_would_skip(make_toy: Any) -> None:
    rows = TOOLS["search_notes"].replace("{type: string, desc", "{type: array, desc")
    toy = make_toy({**TOOLS, "search_notes": rows})
    plan = toy.plan()
    assert codes(plan) == ["skipped-schema"]
    assert "`search_notes` in silence: root.properties.query" in (
        plan.objections[0].message
    )


def test_c_a_tool_on_the_second_page(toy: Any) -> None:
    toy.mcp.page = 3
    plan = toy.plan()
    assert codes(plan) == ["not-deployed"]
    assert (
        "`search_notes`, `wake_agent` on its first page" in plan.objections[0].message
    )


def test_c_what_was_sent_and_is_not_registered_is_attached_to_nobody(toy: Any) -> None:
    before = toy.names()
    plan = toy.plan()

    def lose(method: str, path: str) -> None:
        gone = toy.world.tool_named("end_day")
        if method == "GET" and path == "/v1/tools/" and gone:
            toy.world.delete_tool(gone.id)

    toy.fake.faults.before = lose
    with pytest.raises(Refused, match="`end_day` is not in Letta's registry"):
        toy.apply(plan)
    assert toy.names() == before


def test_d_a_circular_tool_that_somebody_attached_is_detached(toy: Any) -> None:
    toy.apply()
    toy.world.attach(agent_of(toy), toy.world.tool_named("wake_agent"))
    plan = toy.plan()
    assert [(one.action, one.name, one.detail) for one in plan.changes] == [
        ("-", "wake_agent", "detached: It calls the agent's own loop.")
    ]
    toy.apply(plan)
    assert "wake_agent" not in toy.names()
    assert toy.world.tool_named("wake_agent") is not None


def test_g_the_baseline_is_there_before_anything_changes(toy: Any) -> None:
    kept: list[int] = []

    def look(method: str, path: str) -> None:
        if method != "GET" and not path.endswith("/test"):
            kept.append(len(list(toy.state.glob("*.json"))))

    plan = toy.plan()
    toy.fake.faults.before = look
    toy.apply(plan)
    assert kept == [1] * len(kept)
    assert kept


# -- names belong to the organisation -------------------------------------------------


def test_another_owners_tool_is_taken_only_by_name(toy: Any) -> None:
    toy.world.custom_tool("end_day")
    refused(toy, "capture")
    toy.apply(toy.plan(Permits(capture=("end_day",))))
    assert toy.world.tool_named("end_day").tool_type == "external_mcp"
    assert verified(toy).all_match


def test_another_servers_tool_is_not_taken_either(toy: Any) -> None:
    other = PlantedServer()
    other.offer({**toy.mcp.tools["end_day"]})
    toy.world.servers["http://other.test/mcp"] = other
    config = {
        "mcp_server_type": "streamable_http",
        "server_url": "http://other.test/mcp",
    }
    toy.world.create_entry("other", config)
    refused(toy, "capture")
    # And when it takes ours over behind our back, it is seen.
    toy.world.delete_entry(toy.world.entry_named("other"))
    toy.apply()
    toy.world.create_entry("other", config)
    assert codes(toy.plan()) == ["capture"]


@pytest.mark.parametrize("name", ["core_memory_append", "send_message", "memory"])
def test_lettas_own_tools_are_never_taken(make_toy: Any, name: str) -> None:
    toolset = TOOLSET.replace("expects: [send_message]", "expects: []")
    toolset = toolset.replace("ends_turn: [send_message]", "ends_turn: []")
    toy = make_toy(TOOLS, toolset)
    toy.mcp.offer({"name": name, "inputSchema": {"type": "object"}})
    kind = toy.world.tool_named(name).tool_type
    refused(toy, "capture", permits=Permits(capture=(name,)))
    assert toy.world.tool_named(name).tool_type == kind


def test_reading_the_registry_writes_nothing(toy: Any) -> None:
    """A filtered list makes Letta upsert its own tools, with their settings."""
    toy.world.tool_named("run_code").default_requires_approval = True
    toy.plan()
    assert toy.world.tool_named("run_code").default_requires_approval is True


# -- refresh --------------------------------------------------------------------------


def test_an_empty_list_during_a_deployment(toy: Any) -> None:
    toy.apply()
    toy.mcp.tools.clear()
    refused(toy, "empty-list")
    assert set(toy.names()) >= {"search_notes", "delete_note", "end_day"}


def test_a_deployment_in_the_middle_of_an_apply(toy: Any) -> None:
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
    with pytest.raises(LettaError, match="offers other tools now"):
        toy.apply(plan)
    assert not [path for _, path in toy.fake.faults.seen if path.endswith("/refresh")]
    assert "end_day" in toy.names()


def test_a_deletion_that_reaches_other_agents_must_be_named(toy: Any) -> None:
    toy.apply()
    other = toy.world.create_agent({"name": "other", "tools": ["end_day"]})
    (toy.project.root / "specs/toy/end_day.yaml").unlink()
    toy.deploy()
    plan = toy.plan()
    assert codes(plan) == ["other-agents"]
    assert f"other ({other.id})" in plan.objections[0].message
    refused(toy, "other-agents")
    toy.apply(toy.plan(Permits(delete=("end_day",))))
    assert toy.world.tool_named("end_day") is None


def test_past_fifty_tools_each_is_registered_by_itself(make_toy: Any) -> None:
    many = {
        f"tool_{number:02}": TOOLS["end_day"].replace("End the day", f"Do {number}")
        for number in range(30)
    }
    toy = make_toy({**TOOLS, **many})
    toy.apply()
    assert len(toy.names()) == 6 + 33
    doubles = len(toy.world.mcp_tools)
    toy.world.tool_named("tool_07").return_char_limit = 77
    toy.world.tool_named("tool_07").default_requires_approval = True
    toy.project.edit("specs/toy/tool_07.yaml", "Do 7.", "Do 7 again.")
    toy.deploy()
    toy.fake.faults.seen.clear()
    toy.apply()
    seen = [one for one in toy.fake.faults.seen if one[0] != "GET"]
    tool = toy.world.tool_named("tool_07")
    assert seen == [
        ("POST", "/v1/tools/mcp/servers/toy/tool_07"),
        ("PATCH", f"/v1/tools/{tool.id}"),
        ("PATCH", f"/v1/agents/{toy.agent_id}"),
    ]
    assert (tool.description, tool.return_char_limit) == ("Do 7 again.", 77)
    assert tool.default_requires_approval is True
    assert ("tool_07", "requires_approval") in toy.rules(), "PATCH does not bring it"
    assert len(toy.world.mcp_tools) == doubles + 1, "no refresh added rows for ever"
    assert verified(toy).all_match


def test_schemas_are_compared_without_what_letta_makes_of_them(make_toy: Any) -> None:
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
    stored = toy.world.tool_named("nest").json_schema["parameters"]
    assert "request_heartbeat" in stored["properties"]
    assert stored["properties"]["place"]["additionalProperties"] is False
    assert toy.plan().changes == ()


def test_an_approval_that_the_registry_asks_for_becomes_a_rule(toy: Any) -> None:
    toy.apply()
    toy.world.tool_named("search_notes").default_requires_approval = True
    toy.apply()
    assert ("search_notes", "requires_approval") in toy.rules()


# -- the entry ------------------------------------------------------------------------


def test_a_new_token_reaches_the_server(toy: Any) -> None:
    toy.apply()
    toy.mcp.token = "another-s3cret-token"
    toy.environment["TOY_MCP_TOKEN"] = toy.mcp.token
    plan = toy.plan()
    assert [(one.layer, one.detail) for one in plan.changes] == [
        ("server", "bearer token (not shown)")
    ]
    assert TOKEN not in str(plan.to_json())
    assert toy.mcp.token not in str(plan.to_json())
    toy.entry().config["custom_headers"]["X-Region"] = "north"
    toy.apply(plan)
    assert toy.entry().config["custom_headers"] == {
        "X-Region": "north",
        "Authorization": "Bearer another-s3cret-token",
    }
    assert toy.entry().server_name == "toy"
    assert verified(toy).all_match


def test_a_new_url_is_a_change_of_the_entry(toy: Any) -> None:
    toy.apply()
    toy.world.servers["http://new.test/mcp"] = toy.mcp
    toy.project.edit("specs/toy/toolset.yaml", MCP, "http://new.test/mcp")
    plan = toy.plan()
    assert [one.detail for one in plan.changes] == [f"url {MCP} -> http://new.test/mcp"]
    toy.apply(plan)
    assert toy.entry().config["server_url"] == "http://new.test/mcp"


# -- rules ----------------------------------------------------------------------------


def test_a_stale_rule_of_others_goes_when_it_is_named(toy: Any) -> None:
    toy.apply()
    stale = {"tool_name": "gone_tool", "type": "run_first", "args": None}
    agent_of(toy).tool_rules.append({**stale, "prompt_template": None})
    plan = toy.plan()
    assert plan.changes == ()
    assert "--drop-stale gone_tool removes it" in plan.warnings[0]
    plan = toy.plan(Permits(drop_stale=("gone_tool",)))
    assert [(o.action, o.name) for o in plan.changes] == [("-", "gone_tool run_first")]
    toy.apply(plan)
    assert ("gone_tool", "run_first") not in toy.rules()
    assert ("their_tool", "max_count_per_step") in toy.rules()


def test_an_agent_that_letta_code_opened_is_told_of(toy: Any) -> None:
    toy.apply()
    agent_of(toy).tags.append("origin:letta-code")
    agent_of(toy).tool_rules = []
    found = verified(toy, examples=False)
    assert not found.all_match
    assert "opened by Letta Code" in found.plan.warnings[0]


# -- versions, doors, retries ---------------------------------------------------------


@pytest.mark.parametrize("version", ["0.12.9", "0.17.0", "1.0.0", "nightly"])
def test_an_unknown_version_is_refused(toy: Any, version: str) -> None:
    toy.world.version = version
    assert codes(toy.plan()) == ["version"]


def test_a_newer_server_refuses_private_addresses(make_toy: Any) -> None:
    toy = make_toy(toolset=TOOLSET.replace("mcp.test", "127.0.0.1:9"))
    toy.world.servers["http://127.0.0.1:9/mcp"] = toy.mcp
    assert toy.plan().warnings == ()
    toy.world.version = "0.16.7"
    assert "refuses MCP servers at private addresses" in toy.plan().warnings[0]


def test_the_cloud_is_never_changed(toy: Any) -> None:
    plan = toy.plan()
    api = LettaApi("https://api.letta.com")
    from toolcast.runtime.letta_applying import apply_plan
    from toolcast.runtime.letta_baseline import Baselines

    with pytest.raises(Refused, match="Letta's cloud"):
        apply_plan(plan, api, toy.wish(), Baselines(toy.state))


@pytest.mark.parametrize("url", ["", "letta", "ftp://x", "http://user:pw@letta.test"])
def test_a_url_that_is_none(url: str) -> None:
    with pytest.raises(LettaError):
        LettaApi(url)


def test_a_wrong_key_is_told_before_anything_else(toy: Any) -> None:
    toy.world.password = "right"
    api = LettaApi(toy.fake.url, "wr0ng-key")
    with pytest.raises(LettaError, match="401") as caught:
        api.count_tools()
    assert "wr0ng-key" not in str(caught.value)


@pytest.mark.parametrize("fault", [Fault.ERROR_AFTER, Fault.LOCKED, Fault.DROP_AFTER])
def test_a_change_is_sent_once(toy: Any, fault: Fault) -> None:
    plan = toy.plan()
    path = f"/v1/agents/{toy.agent_id}"
    toy.fake.faults.reset()
    toy.fake.faults.counts = lambda method, at: (method, at) == ("PATCH", path)
    toy.fake.faults.at[0] = fault
    expected = LettaError if fault is Fault.LOCKED else Unsure
    with pytest.raises(expected):
        toy.apply(plan)
    assert toy.fake.faults.seen.count(("PATCH", path)) == 1


def test_an_agent_that_is_not_there(toy: Any) -> None:
    toy.agent_id = "agent-00000000-0000-4000-8000-000000000000"
    with pytest.raises(LettaError, match="Letta has no agent agent-0000"):
        toy.plan()


def test_settings_that_the_environment_lacks(toy: Any) -> None:
    del toy.environment["TOY_MCP_TOKEN"]
    with pytest.raises(MissingSetting, match="set TOY_MCP_TOKEN"):
        toy.wish()


def test_an_expected_tool_that_was_lost_comes_back(toy: Any) -> None:
    """A built-in that somebody captured and deleted has a new id, and nobody has it."""
    toy.apply()
    toy.world.delete_tool(toy.world.tool_named("send_message").id)
    plan = toy.plan()
    assert [(o.action, o.layer, o.name) for o in plan.changes] == [
        ("+", "tool", "send_message")
    ]
    toy.apply(plan)
    assert "send_message" in toy.names()


def test_two_agents_in_one_plan(make_toy: Callable[..., Any]) -> None:
    toolset = TOOLSET + "    helper: {id_env: HELPER_AGENT_ID}\n"
    toy = make_toy(toolset=toolset)
    helper = toy.world.create_agent({"name": "helper"})
    toy.environment["HELPER_AGENT_ID"] = helper.id
    toy.apply()
    names = {tool.name for tool in toy.world.attached(helper)}
    assert {"search_notes", "delete_note", "end_day"} < names
    rules = {(rule["tool_name"], rule["type"]) for rule in helper.tool_rules}
    assert rules == {("delete_note", "requires_approval"), ("end_day", "exit_loop")}
    assert verified(toy, examples=False).all_match


def test_a_former_name_that_somebody_else_has_now_is_theirs(toy: Any) -> None:
    toy.project.edit(
        "specs/toy/end_day.yaml",
        "handler:",
        "renamed_from: [stop_day, close_day]\nhandler:",
    )
    agent = agent_of(toy)
    for name in ("stop_day", "close_day"):
        toy.world.attach(agent, toy.world.custom_tool(name))
    agent.tool_rules.append({"tool_name": "stop_day", "type": "continue_loop"})
    toy.deploy()
    toy.apply()
    assert {"stop_day", "close_day", "end_day"} < set(toy.names())
    assert ("stop_day", "continue_loop") in toy.rules()
    assert verified(toy).all_match


def test_a_rule_of_a_former_name_follows_it_although_the_tool_is_gone(
    toy: Any,
) -> None:
    """Somebody refreshed: the old tool is deleted and detached, its rules are left."""
    toy.apply()
    from tests.letta.test_letta_changes import rename

    rename(toy, "search_notes", "find_notes")
    limit = {"tool_name": "search_notes", "type": "max_count_per_step"}
    agent_of(toy).tool_rules.append({**limit, "max_count_limit": 3})
    toy.world.refresh(toy.entry())
    assert "search_notes" not in toy.names()
    toy.apply()
    assert "find_notes" in toy.names()
    assert ("find_notes", "max_count_per_step") in toy.rules()
    assert not [name for name, _ in toy.rules() if name == "search_notes"]


def test_whether_others_tools_need_approval_is_theirs_to_say(toy: Any) -> None:
    toy.world.tool_named("their_tool").default_requires_approval = True
    toy.apply()
    assert ("their_tool", "requires_approval") not in toy.rules()


def test_an_objection_that_came_up_since_the_plan(toy: Any) -> None:
    toy.apply()
    (toy.project.root / "specs/toy/end_day.yaml").unlink()
    toy.deploy()
    plan = toy.plan()
    assert not plan.objections
    toy.world.create_agent({"name": "other", "tools": ["end_day"]})
    with pytest.raises(Refused, match="other agents have it"):
        toy.apply(plan)
    assert toy.world.tool_named("end_day") is not None


@pytest.mark.parametrize(
    "url", ["mcp.test/mcp", "ftp://mcp.test", "http://a:b@mcp.test"]
)
def test_a_url_of_the_mcp_server_that_is_none(toy: Any, url: str) -> None:
    toolset = toy.project.root / "specs/toy/toolset.yaml"
    text = toolset.read_text().replace(f'url: "{MCP}"', "url_env: TOY_MCP_URL")
    toolset.write_text(text)
    toy.environment["TOY_MCP_URL"] = url
    with pytest.raises(MissingSetting, match="the MCP server's URL") as caught:
        toy.wish()
    assert "a:b" not in str(caught.value)
