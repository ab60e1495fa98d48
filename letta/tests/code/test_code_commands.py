"""`toolcast letta ... --backend code`: a toolset in the settings of Letta Code."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from letta.tests.code.desk import AGENT, LOCAL, OTHERS, Desk
from letta.tests.toy import TOKEN


def test_a_plan_is_made_saved_applied_and_verified(desk: Desk) -> None:
    plan = str(desk.home / "plan.json")
    done = desk.letta("plan", *LOCAL, "--out", plan, "--detailed-exitcode")
    assert done.exit_code == 2
    assert "  MCP servers of keeper\n    + toy" in done.stdout
    assert "warning: Letta Code ignores `requires_approval`" in done.stdout
    assert "Plan: 1 to add, 0 to change, 0 to remove." in done.stdout
    assert desk.read() == OTHERS, "a plan changes nothing"
    assert desk.letta("verify", *LOCAL).exit_code == 1

    done = desk.letta("apply", *LOCAL, plan)
    assert done.exit_code == 0, done.stderr
    value = desk.read()
    entry = value["agents"][1]["mcpServers"].pop()
    assert value == OTHERS, "all that others wrote is there"
    assert entry == {
        "name": "toy",
        "transport": "http",
        "url": desk.mcp.url,
        "headers": {"X-Agent-Id": AGENT, "Authorization": f"Bearer {TOKEN}"},
    }

    done = desk.letta("verify", *LOCAL)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "run delete_note by keeper: skipped (it changes data" in done.stdout
    assert "run search_notes by keeper: ok (1 example)\n" in done.stdout
    assert "attached_count: 2  keeper\nall_match: true\n" in done.stdout
    call = desk.mcp.called("search_notes")[0]
    assert call.arguments == {"query": "tea"}
    assert call.headers["x-agent-id"] == AGENT
    assert call.headers["authorization"] == f"Bearer {TOKEN}"

    again = desk.letta("apply", *LOCAL, plan)
    assert (again.exit_code, "already" in again.stdout) == (0, True)
    assert "No changes" in desk.letta("plan", *LOCAL).stdout


def test_json_holds_no_secret(desk: Desk) -> None:
    plan = json.loads(desk.letta("plan", *LOCAL, "--format", "json").stdout)
    assert [change["action"] for change in plan["changes"]] == ["+"]
    desk.letta("apply", *LOCAL, "--yes")
    found = json.loads(desk.letta("verify", *LOCAL, "--format", "json").stdout)
    assert found["all_match"] is True
    passed = [call["tool"] for call in found["calls"] if call["passed"]]
    assert passed == ["search_notes"]


def test_a_moved_url_and_a_new_token_change_the_entry_and_nothing_else(
    desk: Desk,
) -> None:
    entry = {
        "name": "toy",
        "transport": "http",
        "url": "http://127.0.0.1:1/old",
        "headers": {"authorization": "Bearer old", "X-Mine": "1", "x-agent-id": AGENT},
        "theirs": True,
    }
    value = json.loads(json.dumps(OTHERS))
    value["agents"][1]["mcpServers"].insert(0, entry)
    desk.write(value)
    done = desk.letta("plan", *LOCAL)
    assert f"~ toy  (url: http://127.0.0.1:1/old -> {desk.mcp.url}" in done.stdout
    assert desk.letta("apply", *LOCAL, "--yes").exit_code == 0
    value["agents"][1]["mcpServers"][0] = {
        **entry,
        "url": desk.mcp.url,
        "headers": {
            "X-Mine": "1",
            "X-Agent-Id": AGENT,
            "Authorization": f"Bearer {TOKEN}",
        },
    }
    assert desk.settings.read_text() == json.dumps(value, indent=2)


def test_settings_that_moved_stop_a_saved_plan(desk: Desk) -> None:
    plan = str(desk.home / "plan.json")
    desk.letta("plan", *LOCAL, "--out", plan)
    value = desk.read()
    value["agents"][1]["mcpServers"].append({"name": "added", "command": "x"})
    desk.write(value)
    done = desk.letta("apply", *LOCAL, plan)
    assert done.exit_code == 1
    assert "the MCP servers of keeper were changed" in done.stderr
    assert desk.read() == value


def test_what_others_write_elsewhere_does_not_stop_it(desk: Desk) -> None:
    plan = str(desk.home / "plan.json")
    desk.letta("plan", *LOCAL, "--out", plan)
    desk.write({**OTHERS, "lastAgent": AGENT})
    assert desk.letta("apply", *LOCAL, plan).exit_code == 0
    assert desk.read()["lastAgent"] == AGENT


@pytest.mark.parametrize("edit", ['"changes": []', '"id": "0"', "nonsense"])
def test_a_plan_that_was_edited_is_refused(desk: Desk, edit: str) -> None:
    plan = desk.home / "plan.json"
    desk.letta("plan", *LOCAL, "--out", str(plan))
    text = plan.read_text()
    value = json.loads(text)
    if edit == "nonsense":
        plan.write_text("{")
    else:
        plan.write_text(json.dumps({**value, **json.loads(f"{{{edit}}}")}))
    done = desk.letta("apply", *LOCAL, str(plan))
    assert done.exit_code == 2, done.stderr
    assert desk.read() == OTHERS


def refused(desk: Desk, *words: str) -> str:
    """What plan objects to; apply must then leave the file."""
    before = desk.settings.read_bytes()
    done = desk.letta("plan", *words)
    assert done.exit_code == 1, done.stdout + done.stderr
    assert desk.letta("apply", *words, "--yes").exit_code == 1
    assert desk.settings.read_bytes() == before
    text: str = done.stdout
    return text


def test_a_tool_that_wakes_the_agent_must_not_be_offered(desk: Desk) -> None:
    offered = {"name": "wake_agent", "inputSchema": {"type": "object"}}
    desk.mcp.tools = [*desk.mcp.tools, offered]
    assert "`wake_agent` to keeper, which must not have it" in refused(desk, *LOCAL)


def test_a_server_that_is_not_deployed_is_refused(desk: Desk) -> None:
    desk.mcp.tools = [t for t in desk.mcp.tools if t["name"] == "search_notes"]
    assert "does not offer `delete_note` (not-deployed)" in refused(desk, *LOCAL)


def test_a_server_that_is_down_is_refused(desk: Desk) -> None:
    desk.mcp.is_down = True
    assert "does not respond" in refused(desk, *LOCAL)


def test_somebody_elses_entry_of_that_name_is_only_taken_when_named(desk: Desk) -> None:
    value = json.loads(json.dumps(OTHERS))
    value["agents"][1]["mcpServers"][0]["name"] = "toy"
    desk.write(value)
    assert "that does not belong to the toolset: serve (capture)" in refused(
        desk, *LOCAL
    )
    done = desk.letta("apply", *LOCAL, "--allow-capture", "toy", "--yes")
    assert done.exit_code == 0
    entry = desk.read()["agents"][1]["mcpServers"][0]
    assert entry["url"] == desk.mcp.url
    assert "command" not in entry, "nor what goes with it"
    assert "No changes" in desk.letta("plan", *LOCAL).stdout, "it is the toolset's now"


def test_names_that_letta_code_takes_for_one_are_refused(desk: Desk) -> None:
    desk.project.edit("specs/toy/toolset.yaml", "{name: toy,", "{name: to_y,")
    value = json.loads(json.dumps(OTHERS))
    value["agents"][1]["mcpServers"][0]["name"] = "to.y"
    desk.write(value)
    assert "mcp__to_y__" in refused(desk, *LOCAL)


def test_an_agent_on_two_backends_must_be_told_apart(desk: Desk) -> None:
    assert "pass --base-url to choose one" in refused(desk)


def test_an_agent_that_is_not_there_is_added_and_said(desk: Desk) -> None:
    done = desk.letta("apply", "--base-url", "https://letta.test/", "--yes")
    assert done.exit_code == 0, done.stderr
    assert "the settings file has no entry for keeper" in done.stdout
    assert desk.read()["agents"][2]["baseUrl"] == "letta.test"


def test_settings_that_letta_code_cannot_read_are_not_touched(desk: Desk) -> None:
    desk.settings.write_text('{\n  // mine\n  "agents": []\n}')
    done = desk.letta("apply", *LOCAL, "--yes")
    assert done.exit_code == 2
    assert "line 2, column 3" in done.stderr
    assert desk.settings.read_text().startswith("{\n  // mine")


def test_a_missing_file_is_made(desk: Desk) -> None:
    os.unlink(desk.settings)
    assert desk.letta("apply", "--yes").exit_code == 0
    assert desk.letta("verify").exit_code == 0
    local = f"local:{desk.home}/.letta/lc-local-backend"
    assert desk.read()["agents"][0]["baseUrl"] == local


def test_verify_finds_a_changed_schema_and_a_failing_example(desk: Desk) -> None:
    desk.letta("apply", *LOCAL, "--yes")

    def fail(arguments: Any) -> Any:
        raise ValueError("no ink")

    desk.mcp.answers["search_notes"] = fail
    desk.mcp.tools = [{**tool, "description": "Other."} for tool in desk.mcp.tools]
    done = desk.letta("verify", *LOCAL)
    assert done.exit_code == 1
    assert "example 1: the call failed: no ink" in done.stdout
    assert "its description differs from the spec" in done.stdout
    assert "all_match: false" in done.stdout


def test_verify_can_leave_calls_out_and_make_more(desk: Desk) -> None:
    desk.letta("apply", *LOCAL, "--yes")
    desk.letta("verify", *LOCAL, "--no-calls")
    assert desk.mcp.calls == []
    desk.letta("verify", *LOCAL, "--call-changing", "--tool", "delete_note")
    assert [call.name for call in desk.mcp.calls] == ["delete_note"]


def test_somebody_elses_entry_of_the_same_kind_is_not_taken_either(desk: Desk) -> None:
    value = json.loads(json.dumps(OTHERS))
    theirs = {"name": "toy", "transport": "http", "url": "http://theirs.test/mcp"}
    value["agents"][1]["mcpServers"].append({**theirs, "headers": {"X-Key": "k"}})
    desk.write(value)
    said = refused(desk, *LOCAL)
    assert (
        "that does not belong to the toolset: http://theirs.test/mcp (capture)" in said
    )


@pytest.mark.parametrize("had_one", [True, False])
def test_what_was_there_is_kept_and_put_back(desk: Desk, had_one: bool) -> None:
    value = json.loads(json.dumps(OTHERS))
    if had_one:
        theirs = {"name": "toy", "transport": "http", "url": "http://theirs.test/mcp"}
        value["agents"][1]["mcpServers"].append({**theirs, "headers": {"X-Key": "k"}})
    desk.write(value)
    before = desk.settings.read_bytes()
    done = desk.letta("apply", *LOCAL, "--allow-capture", "toy", "--yes")
    assert "backup saved: " in done.stdout
    headers = desk.read()["agents"][1]["mcpServers"][1]["headers"]
    assert "X-Key" not in headers, "it is for another server"
    [copy] = desk.settings.parent.glob("toolcast-toy-*.json")
    assert copy.stat().st_mode & 0o777 == 0o600

    shown = desk.letta("rollback", *LOCAL, "--dry-run")
    assert "keeper: the entry toy " in shown.stdout
    assert desk.settings.read_bytes() != before
    assert desk.letta("rollback", *LOCAL).exit_code == 0
    assert desk.settings.read_bytes() == before
    assert "nothing to restore" in desk.letta("rollback", *LOCAL).stdout


def test_an_entry_that_somebody_changed_since_then_stays(desk: Desk) -> None:
    desk.letta("apply", *LOCAL, "--yes")
    value = desk.read()
    value["agents"][1]["mcpServers"][1]["url"] = "http://newer.test/mcp"
    desk.write(value)
    done = desk.letta("rollback", *LOCAL)
    assert done.exit_code == 1
    assert "was changed since then" in done.stderr
    assert desk.read() == value


def test_a_copy_that_was_edited_is_not_put_back(desk: Desk) -> None:
    desk.letta("apply", *LOCAL, "--yes")
    [copy] = desk.settings.parent.glob("toolcast-toy-*.json")
    copy.write_text(copy.read_text().replace("null", '{"name": "toy", "command": "x"}'))
    for words in ((), (str(copy),)):
        done = desk.letta("rollback", *LOCAL, *words)
        assert done.exit_code == 2
    assert "was changed after it was saved" in done.stderr


def test_what_was_asked_for_and_left_out_is_no_success(desk: Desk) -> None:
    desk.letta("apply", *LOCAL, "--yes")
    done = desk.letta("verify", *LOCAL, "--tool", "delete_note")
    assert done.exit_code == 1
    assert "skipped: run delete_note by keeper: it changes data" in done.stdout
    assert "all_match: true" in done.stdout


def test_tools_are_not_restored_where_none_is_attached(desk: Desk) -> None:
    done = desk.letta("rollback", *LOCAL, "--restore", "x")
    assert done.exit_code == 2
    assert "which attaches no tools" in done.stderr
