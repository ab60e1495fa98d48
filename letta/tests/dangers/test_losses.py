"""A loss of other owners' tools is reported until it is restored or accepted by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from letta.tests.dangers.operator_changes import LOSSES, MEMORY, replace_tools
from letta.tests.manual_changes import (
    ManualChange,
    delete_tool,
    detach_tools,
    remove_rules,
)
from letta.tests.stage import THEIRS, Stage
from letta.tests.toy import TOKEN
from toolcast_letta.commands.letta import command
from toolcast_letta.v1.undoing import RestoreError

RULES = [
    {"tool_name": "their_tool", "type": "max_count_per_step", "max_count_limit": 2},
    {"tool_name": "their_tool", "type": "requires_approval"},
    {"tool_name": "memory_replace", "type": "requires_approval"},
]


@pytest.fixture
def applied_stage(stage: Stage) -> Stage:
    """Apply the toolset to an agent that has rules of other owners."""
    stage.patch(tool_rules=[*stage.agent()["tool_rules"], *RULES])
    stage.apply()
    assert stage.verify(examples=False).all_match
    return stage


def change_spec(stage: Stage, text: str) -> None:
    """Make the next apply save a baseline."""
    stage.project.edit("specs/toy/end_day.yaml", "summary: ", f"summary: {text} ")
    stage.deploy()


@pytest.mark.parametrize(("change", "lost"), LOSSES.values(), ids=LOSSES)
def test_letta_verify_reports_lost_foreign_tools_until_they_are_restored(
    applied_stage: Stage, change: ManualChange, lost: Sequence[str]
) -> None:
    rules = applied_stage.rules()
    change(applied_stage)
    for text in ("First note.", "Second note."):
        change_spec(applied_stage, text)
        assert bool(applied_stage.apply().missing) is bool(lost)
        found = applied_stage.verify(examples=False)
        assert (found.all_match, sorted(found.plan.agents[0].lost)) == (
            not lost,
            sorted(lost),
        )
    if not lost:
        return
    [count] = found.counts
    assert {*count.lost} == {*lost} - applied_stage.names()
    restorable = [name for name in lost if applied_stage.find_tool(name)]
    deleted = {*lost} - {*restorable}
    assert len(applied_stage.roll_back(*restorable).lost) == 0
    assert applied_stage.names() >= THEIRS - deleted
    assert {rule for rule in rules if rule[0] not in deleted} <= applied_stage.rules()
    # The rollback to the newest baseline undoes only the newest apply.
    applied_stage.apply()
    found = applied_stage.verify(examples=False)
    assert {*found.plan.agents[0].lost} == deleted


ACCEPTED = ["memory_insert is detached", "no tool is left", "all rules are removed"]
ACCEPTED += ["a tool of others is deleted", "both searches are detached"]


@pytest.mark.parametrize("row", ACCEPTED)
def test_letta_plan_option_accept_loss_accepts_lost_tools_by_name(
    applied_stage: Stage, row: str
) -> None:
    change, lost = LOSSES[row]
    change(applied_stage)
    applied_stage.apply()
    files = list(applied_stage.state.glob("*.json"))
    for name in lost[:-1]:
        assert applied_stage.apply(applied_stage.plan(accept_loss=(name,))).missing
    assert (
        applied_stage.apply(applied_stage.plan(accept_loss=tuple(lost[-1:]))).missing
        == ()
    )
    assert applied_stage.verify(examples=False).all_match
    # The decision is recorded, and the baseline to return to stays the same.
    assert sorted(applied_stage.state.glob("*.json")) == sorted(files)
    accepted = {*applied_stage.plan().agents[0].accepted_losses}
    assert accepted == {*lost} - applied_stage.names()
    change_spec(applied_stage, "Later note.")
    assert applied_stage.apply().missing == ()
    assert applied_stage.verify(examples=False).all_match


def test_accepted_letta_tool_loss_is_reported_again_if_the_tool_is_lost_again(
    applied_stage: Stage,
) -> None:
    detach_tools("their_tool")(applied_stage)
    applied_stage.apply(applied_stage.plan(accept_loss=("their_tool",)))
    assert applied_stage.verify(examples=False).all_match
    tool_id = applied_stage.find_tool("their_tool")["id"]
    path = f"/v1/agents/{applied_stage.agent_id}/tools/attach/{tool_id}"
    applied_stage.request("PATCH", path)
    change_spec(applied_stage, "Back note.")
    applied_stage.apply()
    detach_tools("their_tool")(applied_stage)
    assert not applied_stage.verify(examples=False).all_match


@pytest.mark.parametrize("name", ["memory_insert", "search_notes", "no_such", "", "*"])
def test_letta_plan_refuses_accept_loss_for_a_tool_that_was_not_lost(
    applied_stage: Stage, name: str
) -> None:
    detach_tools("their_tool")(applied_stage)
    plan = applied_stage.plan(accept_loss=(name,))
    assert [blocker.code for blocker in plan.blockers] == ["not-lost"]
    assert "their_tool" in plan.blockers[0].help


def test_letta_apply_attaches_lost_tools_listed_in_expects_with_their_own_rules(
    applied_stage: Stage,
) -> None:
    replace_tools("their_tool")(applied_stage)
    applied_stage.project.edit(
        "specs/toy/toolset.yaml",
        "expects: [send_message]",
        "expects: [send_message, memory_insert, memory_replace, conversation_search]",
    )
    assert "`archival_memory_search`" in " ".join(applied_stage.apply().missing)
    assert ("memory_insert", "continue_loop") in applied_stage.rules()
    done = applied_stage.apply(
        applied_stage.plan(accept_loss=("archival_memory_search",))
    )
    assert done.missing == ()


@pytest.mark.parametrize("name", ["no_such", "search_notes", "web_search", "", "-rf"])
def test_letta_rollback_rejects_restore_for_a_tool_that_is_not_in_the_baseline(
    applied_stage: Stage, name: str
) -> None:
    names = applied_stage.names()
    with pytest.raises(RestoreError, match="no agent of the baseline"):
        applied_stage.roll_back(name)
    assert applied_stage.names() == names


def test_letta_rollback_cannot_restore_a_tool_deleted_from_the_registry(
    applied_stage: Stage,
) -> None:
    delete_tool("their_tool")(applied_stage)
    applied_stage.apply()
    done = applied_stage.roll_back("their_tool")
    assert any("`their_tool` is not in the registry" in line for line in done.lost)


def test_letta_rollback_restores_removed_rules_for_a_named_attached_tool(
    applied_stage: Stage,
) -> None:
    remove_rules("their_tool")(applied_stage)
    change_spec(applied_stage, "New note.")
    applied_stage.apply()
    applied_stage.roll_back("their_tool")
    kinds = {kind for name, kind in applied_stage.rules() if name == "their_tool"}
    assert kinds == {"max_count_per_step", "requires_approval"}


@pytest.fixture
def letta(applied_stage: Stage) -> Callable[..., Result]:
    def run(*args: str) -> Result:
        env = {
            "TOY_AGENT_ID": applied_stage.agent_id,
            "TOY_MCP_TOKEN": TOKEN,
            "LETTA_BASE_URL": str(applied_stage.letta.base_url).rstrip("/"),
        }
        options = ["--project", str(applied_stage.project.root), "--state"]
        options += [str(applied_stage.state), "--server-url", applied_stage.mcp.url]
        done = CliRunner().invoke(command, [*args, *options], env=env)
        assert isinstance(done.exception, SystemExit | None), done.exception
        return done

    return run


def test_letta_plan_apply_and_verify_exit_with_1_until_lost_tools_are_accepted(
    applied_stage: Stage, letta: Callable[..., Result], tmp_path: Path
) -> None:
    detach_tools(*MEMORY)(applied_stage)
    plan = str(tmp_path / "plan.json")
    made = letta("plan", "--out", plan)
    assert made.exit_code == 1
    assert "missing: `memory_insert` was detached from keeper" in made.output
    assert "--accept-loss memory_insert" in made.output
    assert letta("plan", "--detailed-exitcode").exit_code == 1
    assert letta("apply", plan).exit_code == 1
    assert letta("verify", "--no-calls").exit_code == 1
    assert letta("rollback", "--dry-run", "--restore", "memory_x").exit_code == 2
    refused = letta("rollback", "--restore", "memory_x")
    assert refused.exit_code == 2
    assert "--restore memory_x: no agent of the baseline" in refused.output
    assert "help: pass one of archival_memory_search, " in refused.output
    accept = [f"--accept-loss={name}" for name in MEMORY]
    assert letta("apply", plan, *accept).exit_code == 0
    assert letta("apply", "--yes").exit_code == 0
    assert letta("verify", "--no-calls").exit_code == 0


def test_letta_sync_route_answers_409_with_lost_tools_until_they_are_accepted(
    applied_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Handle `POST /api/admin/sync-mcp-tools`, a route of generated MCP servers."""
    from toolcast_letta.server_part.sync import _handle_sync

    monkeypatch.setenv("LETTA_BASE_URL", str(applied_stage.letta.base_url).rstrip("/"))
    monkeypatch.setenv("TOOLCAST_LETTA_STATE", str(applied_stage.state))

    class Toolset:
        name = "toy"
        backend = "v1"

        def desired_state(self, environment: Any) -> Any:
            return applied_stage.desired()

    toolset: Any = Toolset()
    detach_tools("memory_insert")(applied_stage)
    for _ in range(2):
        answer = _handle_sync(toolset, None)
        assert answer.status == 409
        assert "`memory_insert`" in answer.value["missing"][0]
    assert _handle_sync(toolset, {"dry_run": True}).status == 409
    answer = _handle_sync(toolset, {"accept_loss": ["memory_insert"]})
    assert (answer.status, answer.value["missing"]) == (200, [])
    assert _handle_sync(toolset, {"accept_loss": "memory_insert"}).status == 400
