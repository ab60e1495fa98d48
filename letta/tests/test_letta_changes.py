"""Removed, renamed and changed tools: plan, apply, verify and rollback."""

from __future__ import annotations

from typing import Any

import pytest

from letta.tests.stage import Stage
from letta.tests.toy import TOOLS
from toolcast_letta.plan.report import format_plan, format_verification


def list_changes(plan: Any, *layers: str) -> list[str]:
    chosen = [item for item in plan.changes if item.layer in layers]
    return [f"{item.action} {item.layer} {item.name}" for item in chosen]


def test_letta_apply_attaches_a_renamed_tool_with_its_rules_under_the_new_name(
    toy: Any,
) -> None:
    toy.apply()
    agent = toy.world.agents[toy.agent_id]
    agent.tool_rules += [
        {
            "tool_name": "their_tool",
            "type": "constrain_child_tools",
            "children": ["search_notes", "their_tool"],
            "child_arg_nodes": None,
            "prompt_template": None,
        },
        {
            "tool_name": "search_notes",
            "type": "max_count_per_step",
            "max_count_limit": 3,
            "prompt_template": None,
        },
    ]
    toy.rename("search_notes", "find_notes")
    plan = toy.plan()
    assert list_changes(plan, "registry", "tool") == [
        "-/+ registry search_notes -> find_notes",
        "+ tool find_notes",
        "- tool search_notes",
    ]
    assert (
        "  -/+ search_notes -> find_notes  (renamed: search_notes is deleted for"
        in (format_plan(plan))
    )
    toy.apply(plan)
    assert "find_notes" in toy.names()
    assert "search_notes" not in toy.names()
    assert toy.world.find_tool("search_notes") is None
    rules = {(r["tool_name"], r["type"]): r for r in agent.tool_rules}
    children = rules["their_tool", "constrain_child_tools"]["children"]
    assert children == ["find_notes", "their_tool"]
    assert rules["find_notes", "max_count_per_step"]["max_count_limit"] == 3
    assert ("find_notes", "continue_loop") in rules
    assert not [name for name, _ in rules if name == "search_notes"]
    found = toy.verify()
    assert found.all_match, format_verification(found)

    done = toy.roll_back()
    assert done.agents == 0
    assert [line.split(";")[0] for line in done.lost if ";" in line] == [
        "keeper: `search_notes` is not in the registry"
    ]
    assert "`search_notes` was deleted from the registry since then" in done.stays
    assert set(toy.names()) == {
        "archival_memory_search",
        "conversation_search",
        "delete_note",
        "end_day",
        "memory_insert",
        "memory_replace",
        "send_message",
        "their_tool",
        "find_notes",
    }, "neither name would be worse than the new one"


def test_letta_apply_detaches_then_deletes_a_removed_tool_and_rollback_restores_it(
    toy: Any,
) -> None:
    toy.apply()
    toy.remove("end_day")
    plan = toy.plan()
    assert list_changes(plan, "registry", "tool", "rule") == [
        "- registry end_day",
        "- tool end_day",
        "- rule end_day exit_loop",
    ]
    assert plan.changes[0].undo == "needs the previous version of the MCP server"
    order: list[tuple[str, str]] = []
    toy.fake.faults.before = lambda method, path: order.append((method, path))
    toy.apply(plan)
    changing = [method for method, _ in order if method != "GET"]
    assert changing == ["PATCH", "DELETE"], "the agent first, the registry last"
    assert toy.world.find_tool("end_day") is None
    assert toy.verify().all_match

    # With the previous server, the rollback registers the tool again, with a new id.
    (toy.project.root / "specs/toy/end_day.yaml").write_text(
        "name: end_day\n" + __import__("textwrap").dedent(TOOLS["end_day"])
    )
    toy.deploy()
    done = toy.roll_back()
    assert (done.agents, done.lost) == (1, ())
    assert "end_day" in toy.names()
    assert ("end_day", "exit_loop") in toy.rules()
    assert toy.verify().all_match


def test_letta_apply_refreshes_a_changed_tool_schema_under_the_same_id(
    toy: Any,
) -> None:
    toy.apply()
    before = toy.world.find_tool("search_notes").id
    toy.project.edit(
        "specs/toy/search_notes.yaml", "What to look for.", "Words to look for."
    )
    plan = toy.plan()
    assert [item.code for item in plan.blockers] == ["not-deployed"]
    toy.deploy()
    plan = toy.plan()
    assert not plan.blockers
    assert list_changes(plan, "registry", "tool", "rule") == ["~ registry search_notes"]
    toy.fake.faults.seen.clear()
    toy.apply(plan)
    changing = [path for method, path in toy.fake.faults.seen if method != "GET"]
    assert changing == [f"/v1/mcp-servers/{toy.entry().id}/refresh"]
    assert toy.world.find_tool("search_notes").id == before
    assert toy.verify().all_match

    done = toy.roll_back()
    assert (done.agents, done.lost) == (1, ())
    assert done.stays == (
        (
            "the description or schema of `search_notes` was changed since then: "
            "deploy the previous version of the MCP server, and apply"
        ),
    )


def test_letta_apply_keeps_a_tool_registered_that_is_no_longer_attached(
    toy: Any,
) -> None:
    toy.apply()
    toy.project.edit(
        "specs/toy/end_day.yaml",
        "{attached: true, ends_turn: true}",
        "{attached: false, reason: Days do not end.}",
    )
    plan = toy.plan()
    assert list_changes(plan, "registry", "tool", "rule") == [
        "- tool end_day",
        "- rule end_day exit_loop",
    ]
    toy.apply(plan)
    assert toy.world.find_tool("end_day") is not None
    assert toy.verify().all_match
    assert toy.roll_back().agents == 1
    assert "end_day" in toy.names()


def test_letta_plan_adds_an_approval_rule_for_confirm_in_a_tool_spec(toy: Any) -> None:
    toy.apply()
    toy.project.edit(
        "specs/toy/end_day.yaml",
        "{attached: true, ends_turn: true}",
        "{attached: true, ends_turn: true}\nconfirm: {message: End the day?}",
    )
    plan = toy.plan()
    assert "+ rule end_day requires_approval" in list_changes(plan, "registry", "rule")
    toy.apply(plan)
    assert toy.verify().all_match


def test_letta_rollback_after_the_first_apply_keeps_later_attached_tools(
    toy: Any,
) -> None:
    names, rules = toy.names(), toy.rules()
    toy.apply()
    toy.world.attach(
        toy.world.agents[toy.agent_id], toy.world.add_custom_tool("made_since")
    )
    done = toy.roll_back()
    assert (done.agents, done.lost) == (1, ())
    assert set(toy.names()) == {*names, "made_since"}, "what others did stays"
    assert toy.rules() == rules
    assert done.stays[0] == "keeper: `made_since` was attached since then"
    assert "the entry toy was created since then" in done.stays
    assert "`end_day` was registered since then" in done.stays


def test_letta_verify_calls_tool_examples_with_agent_id_and_token(toy: Any) -> None:
    toy.apply()
    found = toy.verify()
    assert format_verification(found) == (
        "warning: keeper, a memgpt_v2_agent, ends its turn after tools that have no rule to continue: `their_tool`; applying does not change the rules of other owners' tools\n"
        "run delete_note by keeper: skipped (it changes data or requires approval; pass --call-changing to call it)\n"
        "run search_notes by keeper: ok (1 example)\n"
        "keeper has 3 of 3 canonical tools: delete_note, end_day, search_notes\n"
        "keeper has 6 other tools: archival_memory_search, conversation_search, memory_insert, memory_replace, send_message, their_tool\n"
        "attached_count: 9 (baseline 6 + 3)  keeper\n"
        "all_match: true\n"
    )
    name, arguments, headers = toy.mcp.calls[-1]
    assert (name, arguments) == ("search_notes", {"query": "tea"})
    assert headers["X-Agent-Id"] == toy.agent_id
    assert headers["Authorization"] == "Bearer s3cret-token-of-the-mcp-server"
    assert toy.verify(changing=True).checks[0].passed is True

    def fail(arguments: Any) -> Any:
        raise RuntimeError("no notes")

    toy.mcp.handlers["search_notes"] = fail
    found = toy.verify()
    assert not found.all_match
    assert found.checks[1].passed is False


@pytest.mark.parametrize(
    ("tool", "detail", "calls"),
    [
        ("search_notes", "there are no notes", 2),
        # A changing tool is not called again to find the reason.
        (
            "delete_note",
            "the tool failed, and Letta returned no reason; see the log of the "
            "MCP server with `--log-level debug`",
            1,
        ),
    ],
)
def test_letta_verify_repeats_a_failed_tool_call_only_if_it_changes_no_data(
    stage: Stage, tool: str, detail: str, calls: int
) -> None:
    """Repeat the call without an agent, because Letta then returns the reason."""
    stage.apply()

    def fail(arguments: Any) -> Any:
        raise RuntimeError("there are no notes")

    stage.mcp.answers[tool] = fail
    [trial] = stage.verify(tools=(tool,), changing=True).checks
    assert (trial.passed, trial.detail) == (False, detail)
    assert len(stage.mcp.calls) == calls


def test_letta_verify_reports_a_tool_that_fails_only_with_the_agent(
    stage: Stage,
) -> None:
    stage.apply()

    def fail_once(arguments: Any) -> Any:
        if len(stage.mcp.calls) == 1:
            raise RuntimeError("not now")
        return {}

    stage.mcp.answers["search_notes"] = fail_once
    [trial] = stage.verify(tools=("search_notes",)).checks
    assert (
        trial.detail == "the tool failed for the agent and succeeded without an agent"
    )


@pytest.mark.parametrize("kind", ["memgpt_v2_agent", "letta_v1_agent"])
def test_letta_verify_turn_fails_if_the_agent_does_not_call_the_tool(
    make_toy: Any, kind: str
) -> None:
    from letta.tests.toy import TOOLSET

    toy = make_toy(toolset=TOOLSET.replace("memgpt_v2_agent", kind), agent_type=kind)
    toy.apply()
    end = {"text": "Tea."} if kind == "letta_v1_agent" else {"tool": "send_message"}
    toy.fake.script[:] = [{"tool": "search_notes", "args": {"query": "tea"}}, end]
    found = toy.verify(examples=False, turn="search_notes")
    assert [(t.kind, t.passed, t.detail) for t in found.checks] == [
        ("turn", True, "2 steps")
    ]
    toy.fake.script[:] = [end]
    found = toy.verify(examples=False, turn="search_notes")
    assert not found.all_match
    assert "it was not called" in found.checks[0].detail
    assert toy.verify(examples=False, turn="delete_note").checks[0].passed is None


def test_letta_verify_lists_missing_and_forbidden_tools_and_missing_rules(
    toy: Any,
) -> None:
    toy.apply()
    agent = toy.world.agents[toy.agent_id]
    agent.tool_rules = [
        rule for rule in agent.tool_rules if rule["tool_name"] != "search_notes"
    ]
    gone = toy.world.find_tool("end_day")
    agent.tool_ids.remove(gone.id)
    toy.world.attach(agent, toy.world.find_tool("run_code"))
    found = toy.verify()
    assert not found.all_match
    assert found.differences == (
        "+ tool end_day of keeper (attached)",
        "- tool run_code of keeper (detached: It keeps notes.)",
        "+ rule search_notes continue_loop of keeper",
    )
    toy.apply()
    assert toy.verify().all_match
