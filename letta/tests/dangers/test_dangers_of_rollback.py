"""Rollback of applied changes without effect on later changes of others."""

from __future__ import annotations

from typing import Any

from letta.tests.stage import OURS, THEIRS, Stage
from toolcast_letta.v1.rollback import preview_rollback


def make_limit_rule(number: int) -> dict[str, Any]:
    return {
        "tool_name": "their_tool",
        "type": "max_count_per_step",
        "max_count_limit": number,
    }


def add_rules(stage: Stage, *rules: dict[str, Any]) -> None:
    stage.patch(tool_rules=[*stage.agent()["tool_rules"], *rules])


def list_call_limits(stage: Stage) -> list[int]:
    rules = stage.agent()["tool_rules"]
    return [r["max_count_limit"] for r in rules if r["type"] == "max_count_per_step"]


def test_letta_rollback_keeps_a_tool_rule_that_was_changed_after_apply(
    stage: Stage,
) -> None:
    add_rules(stage, make_limit_rule(3))
    stage.apply()
    rules = [r for r in stage.agent()["tool_rules"] if "max_count_limit" not in r]
    stage.patch(tool_rules=[*rules, make_limit_rule(7)])
    done = stage.roll_back()
    assert list_call_limits(stage) == [7]
    assert any("was changed since then" in line for line in done.stays)


def test_letta_rollback_attaches_a_manually_detached_tool_only_if_named(
    stage: Stage,
) -> None:
    stage.apply()
    tool = stage.find_tool("their_tool")["id"]
    stage.request("PATCH", f"/v1/agents/{stage.agent_id}/tools/detach/{tool}")
    done = stage.roll_back()
    assert stage.names() == THEIRS - {"their_tool"}
    assert any("--restore their_tool to attach it" in line for line in done.stays)
    stage.roll_back("their_tool")
    assert stage.names() == THEIRS


def test_letta_rollback_preview_lists_changes_and_changes_nothing(stage: Stage) -> None:
    stage.apply()
    names, rules = stage.names(), stage.rules()
    baseline = stage.baselines.get_latest("toy", stage.api.base_url)
    undo = preview_rollback(stage.api, stage.desired(), baseline, stage.baselines)
    assert (stage.names(), stage.rules()) == (names, rules)
    [agent] = undo.agents
    assert {line for line in agent.changes if "tool " in line} == {
        f"- tool {name}" for name in OURS
    }
    changed = {line.split()[0] for line in agent.changes if "rule " in line}
    assert changed == {"-"}
    stage.roll_back()
    assert (stage.names(), set(agent.tools)) == (THEIRS, THEIRS)


def test_letta_rollback_keeps_a_renamed_tool_while_the_server_lacks_the_old_name(
    stage: Stage,
) -> None:
    stage.apply()
    folder = stage.project.root / "specs/toy"
    text = (folder / "search_notes.yaml").read_text()
    new = text.replace("name: search_notes", "name: find_notes")
    (folder / "find_notes.yaml").write_text(f"{new}renamed_from: [search_notes]\n")
    (folder / "search_notes.yaml").unlink()
    stage.deploy()
    stage.apply()
    # The specs have the old name again, but the server still offers the new one.
    (folder / "search_notes.yaml").write_text(text)
    (folder / "find_notes.yaml").unlink()
    done = stage.roll_back()
    assert any("it keeps `find_notes`" in line for line in done.lost)
    assert "find_notes" in stage.names()
    assert ("find_notes", "continue_loop") in stage.rules()

    stage.deploy()
    done = stage.roll_back()
    assert done.lost == ()
    assert stage.names() == THEIRS | OURS
    assert ("search_notes", "continue_loop") in stage.rules()


def test_letta_rollback_names_other_agents_that_lost_a_deleted_tool(
    stage: Stage,
) -> None:
    stage.apply()
    other = stage.create_another_agent("end_day")
    (stage.project.root / "specs/toy/end_day.yaml").unlink()
    stage.deploy()
    stage.apply(stage.plan(delete=("end_day",)))
    done = stage.roll_back()
    assert any(other in line and "`end_day`" in line for line in done.lost)
