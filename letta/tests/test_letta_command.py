"""The commands of `toolcast letta`: output, exit codes and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from letta.tests.toy import TOKEN
from toolcast.commands.command_group import main

KEY = "k3y-of-the-letta-server"
SEVERAL = """
version: 1
toolsets: [specs/toy, specs/second]
extensions: [letta]
"""


@pytest.fixture
def run(
    toy: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Result]:
    """Return a function that runs a subcommand and checks its output for secrets."""
    toy.world.password = KEY
    monkeypatch.setenv("LETTA_BASE_URL", toy.fake.url)
    monkeypatch.setenv("LETTA_API_KEY", KEY)
    monkeypatch.setenv("TOY_AGENT_ID", toy.agent_id)
    monkeypatch.setenv("TOY_MCP_TOKEN", TOKEN)
    monkeypatch.chdir(tmp_path)

    def invoke_command(*args: str) -> Result:
        project = ["--project", str(toy.project.root)]
        result = CliRunner().invoke(main, ["letta", *args, *project])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        for secret in (KEY, TOKEN):
            assert secret not in result.output
        return result

    return invoke_command


def test_letta_plan_apply_verify_and_rollback_commands_print_their_results(
    run: Callable[..., Result], toy: Any
) -> None:
    names = toy.names()
    planned = run("plan", "--out", "letta.plan.json")
    assert planned.exit_code == 0, planned.output
    assert planned.output.endswith(
        "Plan: 14 to add, 0 to change, 0 to remove.\n"
        "Saved: toolcast letta apply letta.plan.json\n"
    )
    text = Path("letta.plan.json").read_text()
    assert KEY not in text
    assert TOKEN not in text
    applied = run("apply", "letta.plan.json")
    assert applied.exit_code == 0, applied.output
    assert applied.output.splitlines()[1:] == [
        "created the entry toy",
        "keeper: 9 tools and 10 rules in one request",
        "tools+rules synced - 9 tools, 10 rules",
    ]
    found = run("verify")
    assert found.exit_code == 0, found.output
    assert found.output.endswith(
        "attached_count: 9 (baseline 6 + 3)  keeper\nall_match: true\n"
    )
    again = run("apply", "letta.plan.json")
    assert again.exit_code == 0, again.output
    assert "in one request" not in again.output
    back = run("rollback")
    assert back.exit_code == 0, back.output
    assert "restored 1 of 1 agents to" in back.output
    assert toy.names() == names
    assert run("verify", "--no-calls").exit_code == 1


def test_letta_plan_detailed_exitcode_is_2_for_changes_and_1_for_errors(
    run: Callable[..., Result], toy: Any
) -> None:
    """Use Terraform's exit codes with `--detailed-exitcode`."""
    assert run("plan").exit_code == 0
    assert run("plan", "--detailed-exitcode").exit_code == 2
    assert run("apply", "--yes").exit_code == 0
    assert run("plan", "--detailed-exitcode").exit_code == 0
    toy.mcp.is_down = True
    assert run("plan").exit_code == 1
    assert run("plan", "--detailed-exitcode").exit_code == 1
    toy.fake.__exit__(None, None, None)
    broken = run("plan", "--detailed-exitcode", "--timeout", "2")
    assert broken.exit_code == 1
    assert broken.output.startswith("error: GET /v1/health/: no response from http://")
    assert run("plan", "--detailed-exitcode", "--toolset", "x").exit_code == 1
    assert run("plan", "--toolset", "x").exit_code == 2


def test_letta_plan_apply_verify_and_rollback_print_json_with_format_json(
    run: Callable[..., Result], toy: Any
) -> None:
    plan = json.loads(run("plan", "--format", "json").stdout)
    assert plan["format"] == "toolcast-letta-plan/4"
    assert plan["changes"][0] == {
        "action": "+",
        "layer": "server",
        "name": "toy",
        "agent": "",
        "detail": "streamable HTTP at http://mcp.test/mcp, with a bearer token (not shown)",
        "undo": "rollback keeps the entry",
    }
    applied = run("apply", "--yes", "--format", "json")
    assert json.loads(applied.stdout)["tools"] == 9
    found = json.loads(run("verify", "--format", "json").stdout)
    assert found["all_match"] is True
    [agent] = found["agents"]
    ours = ["delete_note", "end_day", "search_notes"]
    assert (agent["attached"], agent["canonical"], agent["baseline"]) == (9, 3, 6)
    assert (agent["gained"], agent["lost"]) == (ours, [])
    assert set(agent["names"]) > set(ours)
    back = json.loads(run("rollback", "--format", "json").stdout)
    assert (back["agents"], back["lost"]) == (1, [])


@pytest.mark.parametrize(
    ("args", "code", "expected_text"),
    [
        (("apply",), 2, "--yes to apply without review"),
        (("apply", "none.json"), 2, "none.json cannot be read"),
        (("plan", "--agent", "nobody"), 2, "the toolset toy has no agent `nobody`"),
        (("plan", "--toolset", "toyy"), 2, "did you mean `toy`?"),
        (
            ("plan", "--out", "missing/plan.json"),
            2,
            "missing/plan.json cannot be written: No such",
        ),
        (
            ("verify", "--tool", "list_plain"),
            2,
            "the spec of `list_plain` does not attach it",
        ),
        (("verify", "--turn", "x"), 2, "the spec of `x` does not attach it"),
        (("rollback",), 2, "has no baseline of toy on http://"),
        (("rollback", "none.json"), 2, "none.json cannot be read"),
        (("blocks", "--out", "."), 2, "'--out': File '.' is a directory"),
        (("blocks", "--write", "."), 2, "'--write': File '.' is a directory"),
        (("plan", "--base-url", "nowhere"), 2, "`nowhere` is not an http or https URL"),
    ],
)
def test_letta_commands_report_wrong_arguments_without_a_traceback(
    run: Callable[..., Result], args: tuple[str, ...], code: int, expected_text: str
) -> None:
    result = run(*args)
    assert result.exit_code == code
    assert expected_text in result.output
    assert "Traceback" not in result.output


def test_letta_plan_command_exits_with_2_without_letta_base_url(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LETTA_BASE_URL")
    result = run("plan")
    assert result.exit_code == 2
    assert "the URL of Letta is not set" in result.output
    monkeypatch.setenv("LETTA_BASE_URL", "")
    assert run("plan").exit_code == 2


def test_letta_plan_command_reports_an_invalid_letta_base_url(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETTA_BASE_URL", "http://[")
    result = run("plan")
    assert "`http://[` is not an http or https URL" in result.output
    assert "Traceback" not in result.output
    assert result.exit_code in (1, 2)


def test_letta_plan_command_reports_a_wrong_letta_api_key(
    run: Callable[..., Result], toy: Any
) -> None:
    toy.world.password = "another"
    result = run("plan")
    assert result.exit_code == 1
    assert result.output == (
        f"error: Letta at {toy.fake.url} requires a key, and LETTA_API_KEY is wrong"
        " (HTTP 401)\n"
    )


def test_letta_plan_command_reports_a_missing_agent_id_variable(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOY_AGENT_ID")
    result = run("plan")
    assert result.exit_code == 2
    assert (
        "the id of keeper is not set: set the environment variable TOY_AGENT_ID"
        in result.output
    )


def test_letta_plan_command_sends_no_request_if_the_specs_have_errors(
    run: Callable[..., Result], toy: Any
) -> None:
    toy.project.edit("specs/toy/wake_agent.yaml", "attached: false", "attached: true")
    result = run("plan")
    assert result.exit_code == 1
    assert "letta/circular-tool" in result.output
    assert toy.fake.faults.seen == []


def test_letta_plan_command_escapes_control_characters_from_letta(
    run: Callable[..., Result], toy: Any
) -> None:
    agent = toy.world.agents[toy.agent_id]
    rule = {"tool_name": "\x1b[2Jgone", "type": "run_first", "args": None}
    agent.tool_rules.append({**rule, "prompt_template": None})
    result = run("plan")
    assert "\x1b" not in result.output
    assert "\\x1b[2Jgone" in result.output


def test_letta_plan_command_prints_help_for_a_refused_plan_and_does_not_save_it(
    run: Callable[..., Result], toy: Any
) -> None:
    toy.world.add_custom_tool("end_day")
    result = run("plan", "--out", "p.json")
    assert result.exit_code == 1
    assert "help: rename the tool, or pass --allow-capture end_day" in result.output
    assert "`end_day` belongs to a custom tool" in result.output
    assert result.output.endswith("Refused: 1 blocker.\nNot saved: p.json\n")
    assert not Path("p.json").exists()
    assert run("apply", "--yes", "--allow-capture", "end_day").exit_code == 0


def test_letta_plan_command_exits_with_2_if_no_toolset_has_letta(
    make_project: Callable[..., Any], run: Callable[..., Result]
) -> None:
    project = make_project({}, at="plain")
    args = ["letta", "plan", "--project", str(project.root)]
    result = CliRunner().invoke(main, args)
    assert result.exit_code == 2
    assert "no toolset has a `letta`" in result.output


def test_letta_plan_command_requires_the_toolset_option_for_several_toolsets(
    run: Callable[..., Result], toy: Any
) -> None:
    project = toy.project
    project.write("toolcast.yaml", SEVERAL)
    toolset = (project.root / "specs/toy/toolset.yaml").read_text("utf-8")
    second = toolset.replace("name: toy", "name: second")
    project.write("specs/second/toolset.yaml", second)
    tool = (project.root / "specs/toy/search_notes.yaml").read_text("utf-8")
    other = tool.replace("name: search_notes", "name: search_more")
    project.write("specs/second/search_more.yaml", other)
    result = run("plan")
    assert result.exit_code == 2, result.output
    expected_text = "several toolsets have a `letta`\n  help: pass --toolset with one of toy, second"
    assert expected_text in result.output
    named = run("plan", "--toolset", "toy")
    assert named.exit_code == 0, named.output


def test_letta_plan_help_does_not_import_letta_client_httpx_or_mcp(toy: Any) -> None:
    program = (
        "import sys\n"
        "from toolcast.commands.command_group import main\n"
        "main(['letta', 'plan', '--help'], standalone_mode=False)\n"
        "assert not {'letta_client', 'httpx', 'mcp'} & set(sys.modules)\n"
    )
    ran = toy.project.run("-c", program)
    assert ran.returncode == 0, ran.stderr


def test_letta_rollback_dry_run_lists_changes_and_changes_nothing(
    run: Callable[..., Result], toy: Any
) -> None:
    run("apply", "--yes")
    names = toy.names()
    shown = run("rollback", "--dry-run")
    assert shown.exit_code == 0
    assert "    - tool search_notes\n" in shown.output
    assert "Nothing was changed. The baseline is from " in shown.output
    assert toy.names() == names
    value = json.loads(run("rollback", "--dry-run", "--format", "json").stdout)
    assert "- tool search_notes" in value["agents"][0]["changes"]


def test_letta_rollback_command_refuses_agents_that_the_specs_do_not_declare(
    run: Callable[..., Result], toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("apply", "--yes")
    other = toy.world.create_agent({"name": "other", "agent_type": "memgpt_v2_agent"})
    monkeypatch.setenv("TOY_AGENT_ID", other.id)
    before = toy.names()
    result = run("rollback")
    assert result.exit_code == 2
    assert "agents that the specs do not declare" in result.output
    assert toy.names() == before


def test_letta_apply_command_prints_a_multiline_refusal_once(
    run: Callable[..., Result], toy: Any
) -> None:
    run("plan", "--out", "p.json")
    toy.world.attach(toy.agent, toy.world.find_tool("run_code"))
    toy.agent.tool_rules = []
    result = run("apply", "p.json")
    assert result.exit_code == 1
    assert result.output.count("refused: ") == 1
    assert "\n  make a new plan\n" in result.output


@pytest.mark.parametrize(
    "option", ["--allow-delete", "--allow-capture", "--drop-stale"]
)
def test_letta_apply_command_rejects_override_options_for_a_saved_plan(
    option: str, run: Callable[..., Result], toy: Any
) -> None:
    run("plan", "--out", "p.json")
    names = toy.names()
    result = run("apply", "p.json", option, "run_code")
    assert result.exit_code == 2
    assert f"{option} cannot change a saved plan" in result.output
    assert "help: make a plan with `toolcast letta plan --out FILE`" in result.output
    assert toy.names() == names
