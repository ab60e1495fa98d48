"""Dangers and traps of Letta, each planted and seen refused or repaired.

The same tests run on the fake, and with `make test-letta` on a real server. What a server does
by itself is in the recorded contract; here is what the commands make of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.letta.changing_mcp import changing_mcp, tool
from tests.letta.fake_letta import FakeLetta
from tests.letta.stage import THEIRS, Stage, stage_on
from tests.letta.toy import HANDLERS, TOKEN, TOOLS, TOOLSET
from toolcast.runtime.letta_applying import Refused

OURS = {"search_notes", "delete_note", "end_day"}
SEARCH = "specs/toy/search_notes.yaml"
TEXT = "{type: string, description: What to look for.}"


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.letta)])
def stage(
    request: pytest.FixtureRequest, make_project: Callable[..., Any], tmp_path: Path
) -> Iterator[Stage]:
    project = make_project(TOOLS, toolset=TOOLSET, handlers=HANDLERS)
    if request.param == "real":
        url = request.getfixturevalue("clean_letta")
        with stage_on(url, project, tmp_path / "state") as stage:
            yield stage
        return
    with FakeLetta() as fake, stage_on(fake.url, project, tmp_path / "state") as stage:
        yield stage


def refused(stage: Stage, **permits: Any) -> str:
    """The codes and texts of a plan's objections; applying must change nothing."""
    plan = stage.plan(**permits)
    assert plan.objections
    before = (stage.names(), stage.rules(), stage.ask("GET", "/v1/tools/count"))
    with pytest.raises(Refused):
        stage.apply(plan)
    after = (stage.names(), stage.rules(), stage.ask("GET", "/v1/tools/count"))
    assert after == before
    return "\n".join(f"{one.code}: {one.message}" for one in plan.objections)


def actions(plan: Any, layer: str) -> list[str]:
    """`- name` of each change of a layer, sorted."""
    found = [f"{one.action} {one.name}" for one in plan.changes if one.layer == layer]
    return sorted(found)


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
    assert stage.roll_back().lost == ()
    assert stage.names() == THEIRS


def test_a_server_that_is_away_is_refused(stage: Stage) -> None:
    """Danger C: Letta creates an entry without tools and answers 200."""
    stage.mcp.is_down = True
    assert "unreachable" in refused(stage)


def test_a_tool_that_is_not_deployed_is_refused(stage: Stage) -> None:
    """Danger C: it would be skipped in silence."""
    stage.mcp.tools = [t for t in stage.mcp.tools if t["name"] != "end_day"]
    assert "not-deployed: the MCP server does not offer `end_day`" in refused(stage)


def test_a_tool_that_is_deployed_otherwise_is_refused(stage: Stage) -> None:
    """Danger C: the agent would get another schema than the specs have."""
    stage.mcp.tools = [{**t, "description": "Old."} for t in stage.mcp.tools]
    assert "otherwise than its spec" in refused(stage)


def test_a_second_page_is_refused(stage: Stage) -> None:
    """Letta reads the first page only."""
    stage.mcp.page = 2
    assert "on its first page" in refused(stage)


def test_a_schema_that_letta_would_skip_is_refused(stage: Stage) -> None:
    """Danger C: an array without items."""
    stage.project.edit(SEARCH, TEXT, "{type: array, description: Words.}")
    stage.deploy()
    assert "skipped-schema: Letta would skip `search_notes`" in refused(stage)


def test_a_circular_tool_that_somebody_attached_is_taken_away(stage: Stage) -> None:
    """Danger D."""
    stage.apply()
    tool_id = stage.registered("wake_agent")["id"]
    stage.ask("PATCH", f"/v1/agents/{stage.agent_id}/tools/attach/{tool_id}")
    plan = stage.plan()
    assert actions(plan, "tool") == ["- wake_agent"]
    stage.apply(plan)
    assert stage.names() == THEIRS | OURS


def test_an_empty_list_of_tools_is_refused(stage: Stage) -> None:
    """Danger G: during a deployment, a refresh would delete and detach everything."""
    stage.apply()
    stage.mcp.tools = []
    assert "empty-list" in refused(stage)
    assert stage.names() == THEIRS | OURS


def test_a_tool_of_other_agents_is_not_deleted_unnamed(stage: Stage) -> None:
    """Danger G: what is deleted is detached from every agent of the organisation."""
    stage.apply()
    other = stage.new_agent("search_notes")
    (stage.project.root / SEARCH).unlink()
    stage.deploy()
    assert "other-agents: `search_notes` is to be deleted" in refused(stage)
    assert stage.names(other) == {"search_notes"}
    stage.apply(stage.plan(delete=("search_notes",)))
    assert stage.names(other) == set()
    assert stage.registered("search_notes") is None


def test_names_of_others_are_not_captured_unnamed(stage: Stage) -> None:
    """Names are unique in an organisation, and who registers one takes it over."""
    with changing_mcp(tool("search_notes", "Theirs.")) as theirs:
        entry = stage.new_server("theirs", url=theirs.url)
        other = stage.new_agent("search_notes")
        assert "capture: `search_notes` belongs to" in refused(stage)
        owner = stage.registered("search_notes")["metadata_"]["mcp"]["server_id"]
        assert owner == entry
        stage.apply(stage.plan(capture=("search_notes",)))
        assert stage.registered("search_notes")["description"] == "Search the notes."
        assert stage.names(other) == {"search_notes"}


def test_an_own_tool_that_was_captured_is_seen(stage: Stage) -> None:
    stage.apply()
    with changing_mcp(tool("end_day", "Theirs.")) as theirs:
        stage.new_server("theirs", url=theirs.url)
        assert "capture: `end_day` belongs to" in refused(stage)


def test_more_tools_than_a_list_shows_are_kept(stage: Stage) -> None:
    """The agent's tools come ten at a time, with a cursor that loses some."""
    many = [tool(f"many_{number:02}") for number in range(35)]
    with changing_mcp(*many) as theirs:
        stage.new_server("theirs", url=theirs.url)
        listed = stage.ask("GET", "/v1/tools/?limit=1000")
        ids = [one["id"] for one in listed if one["name"].startswith("many_")]
        mine = [one["id"] for one in stage.agent()["tools"]]
        stage.patch(tool_ids=[*mine, *ids])
        before = stage.names()
        assert len(before) == 35 + len(THEIRS)
        stage.apply()
        assert stage.names() == before | OURS


def test_beyond_fifty_tools_everything_is_registered_and_settled(stage: Stage) -> None:
    """A refresh looks at 50 tools of the organisation, and repeats itself for ever."""
    many = [tool(f"many_{number:02}") for number in range(60)]
    with changing_mcp(*many) as theirs:
        stage.new_server("theirs", url=theirs.url)
        stage.apply()
        assert stage.names() == THEIRS | OURS
        assert stage.plan().changes == ()
        path = f"/v1/tools/{stage.registered('end_day')['id']}"
        stage.ask("PATCH", path, {"return_char_limit": 777})
        stage.project.edit(SEARCH, "What to look for.", "Words.")
        stage.deploy()
        stage.apply()
        assert stage.plan().changes == ()
        assert stage.registered("end_day")["return_char_limit"] == 777
        assert len(stage.ask("GET", "/v1/tools/?limit=1000")) >= 60


def test_a_renamed_tool_stays_attached_under_its_new_name(stage: Stage) -> None:
    """For Letta it is one tool less and another one more, on no agent."""
    stage.apply()
    old = (stage.project.root / SEARCH).read_text()
    (stage.project.root / SEARCH).unlink()
    text = old.replace("name: search_notes", "name: find_notes")
    stage.project.write("specs/toy/find_notes.yaml", text)
    stage.project.edit(
        "specs/toy/find_notes.yaml",
        "summary: Search the notes.",
        "summary: Search the notes.\nrenamed_from: [search_notes]",
    )
    stage.deploy()
    plan = stage.plan()
    assert actions(plan, "registry") == ["-/+ search_notes -> find_notes"]
    assert actions(plan, "tool") == ["+ find_notes", "- search_notes"]
    stage.apply(plan)
    assert stage.names() == THEIRS | (OURS - {"search_notes"}) | {"find_notes"}
    assert ("find_notes", "continue_loop") in stage.rules()
    assert not any(name == "search_notes" for name, _ in stage.rules())


def test_a_changed_schema_reaches_the_agent_with_the_same_id(stage: Stage) -> None:
    stage.apply()
    before = stage.registered("search_notes")["id"]
    stage.project.edit(SEARCH, "What to look for.", "Words.")
    stage.deploy()
    assert actions(stage.plan(), "registry") == ["~ search_notes"]
    stage.apply()
    there = stage.registered("search_notes")
    assert there["id"] == before
    shown = there["json_schema"]["parameters"]["properties"]["query"]
    assert shown["description"] == "Words."
    assert stage.plan().changes == ()


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
    assert "gone" in " ".join([*plan.warnings, *(o.message for o in plan.objections)])
    stage.apply(stage.plan(drop_stale=("gone",)))
    assert ("gone", "run_first") not in stage.rules()


def test_what_was_attached_by_hand_in_between_stops_apply(stage: Stage) -> None:
    plan = stage.plan()
    tool_id = stage.registered("run_code_with_tools")["id"]
    stage.ask("PATCH", f"/v1/agents/{stage.agent_id}/tools/attach/{tool_id}")
    with pytest.raises(Refused, match="run_code_with_tools"):
        stage.apply(plan)
    assert stage.names() == THEIRS | {"run_code_with_tools"}
    stage.apply()
    assert stage.names() == THEIRS | OURS | {"run_code_with_tools"}


def test_rules_that_somebody_changed_in_between_stop_apply(stage: Stage) -> None:
    """Letta Code wipes the rules of agents that it opens."""
    plan = stage.plan()
    stage.patch(tool_rules=[])
    with pytest.raises(Refused, match="rules"):
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


def test_a_new_token_reaches_the_mcp_server(stage: Stage) -> None:
    """Letta takes a new `auth_token` and goes on sending the old one."""
    stage.apply()
    wish = stage.wish("another-token")
    assert actions(stage.plan(wish), "server") == ["~ toy"]
    stage.apply(wish=wish)
    stage.ask("GET", "/v1/tools/mcp/servers/toy/tools")
    assert stage.mcp.headers[-1]["authorization"] == "Bearer another-token"
    assert TOKEN not in "\n".join(stage.said)


def test_verify_calls_without_a_model_what_may_be_called(stage: Stage) -> None:
    stage.apply()
    found = stage.verify()
    assert found.all_match
    passed = {trial.tool: trial.passed for trial in found.trials}
    assert passed == {"search_notes": True, "delete_note": None}
    assert [call.name for call in stage.mcp.calls] == ["search_notes"]
    assert stage.mcp.calls[0].headers["x-agent-id"] == stage.agent_id
    assert [(count.attached, count.baseline) for count in found.counts] == [
        (len(THEIRS | OURS), len(THEIRS))
    ]


def test_a_rollback_leaves_what_was_there_before(stage: Stage) -> None:
    names, rules = stage.names(), stage.rules()
    stage.apply()
    stage.roll_back()
    assert (stage.names(), stage.rules()) == (names, rules)
    stage.apply()
    assert stage.names() == names | OURS
