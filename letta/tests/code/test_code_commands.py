"""`toolcast letta ... --backend code`: a toolset in Letta Code's settings."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from letta.tests.code.desk import AGENT, LOCAL, OTHERS, Desk
from letta.tests.toy import TOKEN


def test_saved_letta_code_plan_is_applied_once_and_then_verified(desk: Desk) -> None:
    """Write an `mcpServers` entry to Letta Code's settings file once."""
    plan = str(desk.home / "plan.json")
    result = desk.letta("plan", *LOCAL, "--out", plan, "--detailed-exitcode")
    assert result.exit_code == 2
    assert "  MCP servers of keeper\n    + toy" in result.stdout
    assert "warning: Letta Code ignores `requires_approval`" in result.stdout
    assert "Plan: 1 to add, 0 to change, 0 to remove." in result.stdout
    assert desk.read() == OTHERS, "a plan changes nothing"
    assert desk.letta("verify", *LOCAL).exit_code == 1

    result = desk.letta("apply", *LOCAL, plan)
    assert result.exit_code == 0, result.stderr
    value = desk.read()
    entry = value["agents"][1]["mcpServers"].pop()
    assert value == OTHERS, "settings of others are unchanged"
    assert entry == {
        "name": "toy",
        "transport": "http",
        "url": desk.mcp.url,
        "headers": {"X-Agent-Id": AGENT, "Authorization": f"Bearer {TOKEN}"},
    }

    result = desk.letta("verify", *LOCAL)
    assert result.exit_code == 0, result.stdout + result.stderr
    assert "run delete_note by keeper: skipped (it changes data" in result.stdout
    assert "run search_notes by keeper: ok (1 example)\n" in result.stdout
    assert "attached_count: 2  keeper\nall_match: true\n" in result.stdout
    call = desk.mcp.list_calls("search_notes")[0]
    assert call.arguments == {"query": "tea"}
    assert call.headers["x-agent-id"] == AGENT
    assert call.headers["authorization"] == f"Bearer {TOKEN}"

    again = desk.letta("apply", *LOCAL, plan)
    assert (again.exit_code, "already" in again.stdout) == (0, True)
    assert "No changes" in desk.letta("plan", *LOCAL).stdout


def test_letta_code_plan_apply_and_verify_print_results_as_json_without_the_token(
    desk: Desk,
) -> None:
    """Check each output for the MCP server's token in `Desk.letta`."""
    plan = json.loads(desk.letta("plan", *LOCAL, "--format", "json").stdout)
    assert [change["action"] for change in plan["changes"]] == ["+"]
    for changed in (True, False):
        run = desk.letta("apply", *LOCAL, "--yes", "--format", "json")
        assert json.loads(run.stdout)["changed"] is changed
    found = json.loads(desk.letta("verify", *LOCAL, "--format", "json").stdout)
    assert found["all_match"] is True
    passed = [call["tool"] for call in found["calls"] if call["passed"]]
    assert passed == ["search_notes"]


def test_letta_code_apply_updates_url_and_token_only_in_the_toolsets_server_entry(
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
    result = desk.letta("plan", *LOCAL)
    assert f"~ toy  (url: http://127.0.0.1:1/old -> {desk.mcp.url}" in result.stdout
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


def test_letta_code_apply_refuses_a_saved_plan_after_the_agents_mcp_servers_changed(
    desk: Desk,
) -> None:
    plan = str(desk.home / "plan.json")
    desk.letta("plan", *LOCAL, "--out", plan)
    value = desk.read()
    value["agents"][1]["mcpServers"].append({"name": "added", "command": "x"})
    desk.write(value)
    result = desk.letta("apply", *LOCAL, plan)
    assert result.exit_code == 1
    assert "the MCP servers of keeper were changed" in result.stderr
    assert desk.read() == value


def test_letta_code_apply_accepts_a_saved_plan_after_unrelated_settings_changed(
    desk: Desk,
) -> None:
    plan = str(desk.home / "plan.json")
    desk.letta("plan", *LOCAL, "--out", plan)
    desk.write({**OTHERS, "lastAgent": AGENT})
    assert desk.letta("apply", *LOCAL, plan).exit_code == 0
    assert desk.read()["lastAgent"] == AGENT


@pytest.mark.parametrize("edit", ['"changes": []', '"id": "0"', "nonsense"])
def test_letta_code_apply_exits_with_2_for_an_edited_plan_file(
    desk: Desk, edit: str
) -> None:
    plan = desk.home / "plan.json"
    desk.letta("plan", *LOCAL, "--out", str(plan))
    text = plan.read_text()
    value = json.loads(text)
    if edit == "nonsense":
        plan.write_text("{")
    else:
        plan.write_text(json.dumps({**value, **json.loads(f"{{{edit}}}")}))
    result = desk.letta("apply", *LOCAL, str(plan))
    assert result.exit_code == 2, result.stderr
    assert desk.read() == OTHERS


def assert_plan_is_refused(desk: Desk, *args: str) -> str:
    """Return the plan's output; check that apply leaves the file unchanged."""
    before = desk.settings.read_bytes()
    result = desk.letta("plan", *args)
    assert result.exit_code == 1, result.stdout + result.stderr
    assert desk.letta("apply", *args, "--yes").exit_code == 1
    assert desk.settings.read_bytes() == before
    text: str = result.stdout
    return text


def test_letta_code_plan_is_refused_if_the_mcp_server_offers_a_forbidden_tool(
    desk: Desk,
) -> None:
    """Refuse `wake_agent`, which would send a message to the agent that calls it."""
    offered = {"name": "wake_agent", "inputSchema": {"type": "object"}}
    desk.mcp.tools = [*desk.mcp.tools, offered]
    assert "`wake_agent` to keeper, which must not have it" in assert_plan_is_refused(
        desk, *LOCAL
    )


def test_letta_code_plan_is_refused_if_the_mcp_server_lacks_a_tool_from_the_specs(
    desk: Desk,
) -> None:
    desk.mcp.tools = [t for t in desk.mcp.tools if t["name"] == "search_notes"]
    assert "does not offer `delete_note` (not-deployed)" in assert_plan_is_refused(
        desk, *LOCAL
    )


def test_letta_code_plan_is_refused_while_the_mcp_server_does_not_respond(
    desk: Desk,
) -> None:
    desk.mcp.is_down = True
    assert "does not respond" in assert_plan_is_refused(desk, *LOCAL)


def test_letta_code_apply_replaces_a_foreign_stdio_server_only_with_allow_capture(
    desk: Desk,
) -> None:
    """Treat a server with the toolset's server name but a command as foreign."""
    value = json.loads(json.dumps(OTHERS))
    value["agents"][1]["mcpServers"][0]["name"] = "toy"
    desk.write(value)
    assert (
        "that does not belong to the toolset: serve (capture)"
        in assert_plan_is_refused(desk, *LOCAL)
    )
    result = desk.letta("apply", *LOCAL, "--allow-capture", "toy", "--yes")
    assert result.exit_code == 0
    entry = desk.read()["agents"][1]["mcpServers"][0]
    assert entry["url"] == desk.mcp.url
    assert "command" not in entry, "the fields of the previous entry are removed"
    assert (
        "No changes" in desk.letta("plan", *LOCAL).stdout
    ), "the entry belongs to the toolset"


def test_letta_code_plan_refuses_server_names_with_the_same_tool_name_prefix(
    desk: Desk,
) -> None:
    """Refuse `to.y` next to `to_y`: both have the prefix `mcp__to_y__`."""
    desk.project.edit("specs/toy/toolset.yaml", "{name: toy,", "{name: to_y,")
    value = json.loads(json.dumps(OTHERS))
    value["agents"][1]["mcpServers"][0]["name"] = "to.y"
    desk.write(value)
    assert "mcp__to_y__" in assert_plan_is_refused(desk, *LOCAL)


def test_letta_code_plan_requires_base_url_if_the_settings_list_the_agent_id_twice(
    desk: Desk,
) -> None:
    assert "pass --base-url to choose one" in assert_plan_is_refused(desk)


def test_letta_code_apply_adds_a_missing_agent_to_the_settings_with_a_warning(
    desk: Desk,
) -> None:
    result = desk.letta("apply", "--base-url", "https://letta.test/", "--yes")
    assert result.exit_code == 0, result.stderr
    assert "the settings file has no entry for keeper" in result.stdout
    assert desk.read()["agents"][2]["baseUrl"] == "letta.test"


def test_letta_code_apply_reports_invalid_settings_json_and_keeps_the_file(
    desk: Desk,
) -> None:
    desk.settings.write_text('{\n  // mine\n  "agents": []\n}')
    result = desk.letta("apply", *LOCAL, "--yes")
    assert result.exit_code == 2
    assert "line 2, column 3" in result.stderr
    assert desk.settings.read_text().startswith("{\n  // mine")


def test_letta_code_apply_creates_a_missing_settings_file(desk: Desk) -> None:
    os.unlink(desk.settings)
    assert desk.letta("apply", "--yes").exit_code == 0
    assert desk.letta("verify").exit_code == 0
    local = f"local:{desk.home}/.letta/lc-local-backend"
    assert desk.read()["agents"][0]["baseUrl"] == local


def test_letta_code_verify_reports_a_changed_description_and_a_failing_example(
    desk: Desk,
) -> None:
    desk.letta("apply", *LOCAL, "--yes")

    def fail(arguments: Any) -> Any:
        raise ValueError("no ink")

    desk.mcp.answers["search_notes"] = fail
    desk.mcp.tools = [{**tool, "description": "Other."} for tool in desk.mcp.tools]
    result = desk.letta("verify", *LOCAL)
    assert result.exit_code == 1
    assert "example 1: the call failed: no ink" in result.stdout
    assert "its description differs from the spec" in result.stdout
    assert "all_match: false" in result.stdout


def test_letta_code_verify_options_select_which_tools_are_called(desk: Desk) -> None:
    """Check `--no-calls`, `--tool` and `--call-changing`."""
    desk.letta("apply", *LOCAL, "--yes")
    desk.letta("verify", *LOCAL, "--no-calls")
    assert desk.mcp.calls == []
    desk.letta("verify", *LOCAL, "--call-changing", "--tool", "delete_note")
    assert [call.name for call in desk.mcp.calls] == ["delete_note"]


def test_letta_code_plan_refuses_to_replace_a_foreign_http_server_entry(
    desk: Desk,
) -> None:
    value = json.loads(json.dumps(OTHERS))
    theirs = {"name": "toy", "transport": "http", "url": "http://theirs.test/mcp"}
    value["agents"][1]["mcpServers"].append({**theirs, "headers": {"X-Key": "k"}})
    desk.write(value)
    output = assert_plan_is_refused(desk, *LOCAL)
    assert (
        "that does not belong to the toolset: http://theirs.test/mcp (capture)"
        in output
    )


@pytest.mark.parametrize("has_entry", [True, False])
def test_letta_code_rollback_restores_the_settings_file_from_its_backup(
    desk: Desk, has_entry: bool
) -> None:
    value = json.loads(json.dumps(OTHERS))
    if has_entry:
        theirs = {"name": "toy", "transport": "http", "url": "http://theirs.test/mcp"}
        value["agents"][1]["mcpServers"].append({**theirs, "headers": {"X-Key": "k"}})
    desk.write(value)
    before = desk.settings.read_bytes()
    result = desk.letta("apply", *LOCAL, "--allow-capture", "toy", "--yes")
    assert "backup saved: " in result.stdout
    headers = desk.read()["agents"][1]["mcpServers"][1]["headers"]
    assert "X-Key" not in headers, "the header belongs to another server"
    [copy] = desk.settings.parent.glob("toolcast-toy-*.json")
    assert copy.stat().st_mode & 0o777 == 0o600

    preview = desk.letta("rollback", *LOCAL, "--dry-run")
    assert "keeper: the entry toy " in preview.stdout
    assert desk.settings.read_bytes() != before
    assert desk.letta("rollback", *LOCAL).exit_code == 0
    assert desk.settings.read_bytes() == before
    assert "nothing to restore" in desk.letta("rollback", *LOCAL).stdout


def test_letta_code_rollback_refuses_to_replace_a_server_entry_changed_after_apply(
    desk: Desk,
) -> None:
    desk.letta("apply", *LOCAL, "--yes")
    value = desk.read()
    value["agents"][1]["mcpServers"][1]["url"] = "http://newer.test/mcp"
    desk.write(value)
    result = desk.letta("rollback", *LOCAL)
    assert result.exit_code == 1
    assert "was changed since then" in result.stderr
    assert desk.read() == value


def test_letta_code_rollback_exits_with_2_for_an_edited_backup_file(desk: Desk) -> None:
    desk.letta("apply", *LOCAL, "--yes")
    [copy] = desk.settings.parent.glob("toolcast-toy-*.json")
    copy.write_text(copy.read_text().replace("null", '{"name": "toy", "command": "x"}'))
    for args in ((), (str(copy),)):
        result = desk.letta("rollback", *LOCAL, *args)
        assert result.exit_code == 2
    assert "was changed after it was saved" in result.stderr


def test_letta_code_verify_exits_with_1_if_the_requested_tool_call_is_skipped(
    desk: Desk,
) -> None:
    desk.letta("apply", *LOCAL, "--yes")
    result = desk.letta("verify", *LOCAL, "--tool", "delete_note")
    assert result.exit_code == 1
    assert "skipped: run delete_note by keeper: it changes data" in result.stdout
    assert "all_match: true" in result.stdout


def test_letta_code_rollback_rejects_the_restore_option(desk: Desk) -> None:
    """Reject the option because Letta Code attaches no tools."""
    result = desk.letta("rollback", *LOCAL, "--restore", "x")
    assert result.exit_code == 2
    assert "which attaches no tools" in result.stderr
