"""Changes since a plan was made that invalidate it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from letta.tests.planning.states import (
    CORE,
    make_current,
    make_desired,
    make_entry,
    make_registered,
    make_rule,
    make_state,
    make_tool,
    offer_tools,
)
from toolcast_letta.plan.applying import _compare_outcomes, build_apply_result
from toolcast_letta.plan.changes_since import list_changes_since
from toolcast_letta.plan.current_state import AgentState, CurrentState
from toolcast_letta.plan.planning import build_plan
from toolcast_letta.state.baseline import AgentBaseline
from toolcast_letta.v1.server_backend import _add_baseline

DESIRED = make_desired(
    make_tool("add"), make_tool("end_day", ends_turn=True), make_tool("find", "seek")
)
OTHERS = make_registered("theirs", server_id="mcp-2")
TOOLS_BEFORE = (*CORE, "add", "seek", "theirs")


def make_planned(*names: str, rules: Any = (), **more: Any) -> CurrentState:
    """Return the state for which the plan was made, with these differences."""
    known = {
        "agents": {"me": make_state(*(names or TOOLS_BEFORE), rules=rules)},
        "entry": make_entry("http://old.test", has_token=False),
    }
    tools = (make_registered("add"), make_registered("seek"), OTHERS)
    return make_current(DESIRED, *tools, **{**known, **more})


PLAN = build_plan("here", DESIRED, make_planned())


def change_agent(**more: Any) -> CurrentState:
    me = make_planned().agents["me"]
    return make_planned(agents={"me": replace(me, **more)})


def change_registry(*removed: str, **more: Any) -> CurrentState:
    known = {k: v for k, v in make_planned().registry.items() if k not in removed}
    return make_planned(registry={**known, **more})


@pytest.mark.parametrize(
    ("now", "changes"),
    [
        (make_planned(), []),
        # States after single steps of applying the plan.
        (make_planned(entry=make_entry()), []),
        (change_registry("seek", find=make_registered("find")), []),
        (change_registry("seek", end_day=make_registered("end_day")), []),
        (make_planned(*CORE, "add", "theirs", "find", "end_day"), []),
        (make_planned(rules=[make_rule("end_day", "exit_loop")]), []),
        # Changes by other clients.
        (
            make_planned(version="0.16.7"),
            ["Letta's version is 0.16.7; the plan was made for 0.16.6"],
        ),
        (
            make_planned(unreachable="away", offered={}),
            ["Letta cannot list the MCP server's tools: away"],
        ),
        (
            make_planned(
                offered=offer_tools(
                    make_tool("add"), make_tool("end_day"), make_tool("more")
                )
            ),
            [
                "the MCP server added, changed or removed `find`",
                "the MCP server added, changed or removed `more`",
            ],
        ),
        (
            make_planned(entry=make_entry("http://new.test")),
            ["the entry `toys` was changed"],
        ),
        (
            make_planned(entry=make_entry(is_http=False)),
            ["the entry `toys` was changed"],
        ),
        (
            make_planned(entry=make_entry("http://old.test")),
            ["the entry `toys` was changed"],
        ),
        (
            change_registry(add=make_registered("add", digest="x")),
            ["`add` was changed in the registry"],
        ),
        (
            change_registry(own=make_registered("own")),
            ["`own` was added to the registry"],
        ),
        (change_registry(other=make_registered("other", server_id="mcp-2")), []),
        (
            change_agent(type="memgpt_agent"),
            ["the type of me changed from letta_v1_agent to memgpt_agent"],
        ),
        (make_planned(*TOOLS_BEFORE, "got"), ["`got` was attached to me"]),
        (make_planned(*CORE, "add", "seek"), ["`theirs` was detached from me"]),
        (make_planned(*CORE, "seek", "theirs"), []),
        (
            change_agent(
                tools={**make_planned().agents["me"].tools, "theirs": "another"}
            ),
            ["`theirs` of me was replaced by another tool of that name"],
        ),
        (
            change_agent(
                tools={**make_planned().agents["me"].tools, "gone": "another"}
            ),
            ["`gone` was attached to me"],
        ),
        (
            make_planned(rules=[make_rule("add", "exit_loop")]),
            ["the rules of me were changed"],
        ),
    ],
)
def test_list_changes_since_letta_plan_has_other_clients_changes_but_no_own_steps(
    now: CurrentState, changes: list[str]
) -> None:
    messages = list_changes_since(PLAN, "here", DESIRED, now)
    assert [
        message[: len(beginning)]
        for message, beginning in zip(messages, changes, strict=True)
    ] == changes


def test_list_changes_since_letta_plan_has_a_new_tool_id_only_if_not_registered() -> (
    None
):
    tools = {**make_planned().agents["me"].tools, "theirs": "id-anew"}
    registry = {**make_planned().registry, "theirs": replace(OTHERS, id="id-anew")}
    now = make_planned(
        agents={"me": replace(make_state(), tools=tools)}, registry=registry
    )
    assert list_changes_since(PLAN, "here", DESIRED, now) == []
    without = {k: v for k, v in registry.items() if k != "theirs"}
    assert list_changes_since(
        PLAN, "here", DESIRED, replace(now, registry=without)
    ) == ["`theirs` of me was replaced by another tool of that name"]


@pytest.mark.parametrize(
    ("location", "wanted", "message"),
    [
        ("there", DESIRED, "the plan is for here, not for there"),
        (
            "here",
            replace(DESIRED, toolset="others"),
            "the specs or their settings have changed",
        ),
        (
            "here",
            replace(DESIRED, server_url="http://x"),
            "the specs or their settings",
        ),
        (
            "here",
            replace(DESIRED, agents=()),
            "the specs or their settings have changed",
        ),
    ],
)
def test_letta_plan_is_invalid_for_another_location_or_backend_or_changed_specs(
    location: str, wanted: Any, message: str
) -> None:
    assert list_changes_since(PLAN, location, wanted, make_planned())[0].startswith(
        message
    )
    assert len(list_changes_since(PLAN, location, wanted, make_planned())) == 1
    other = replace(PLAN, backend="code")
    assert list_changes_since(other, "here", DESIRED, make_planned()) == [
        "the plan is for here, not for here"
    ]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, None),
        (
            {"id": "agent-2"},
            "the plan's result for me differs from what the specs require",
        ),
        (
            {"home": "local:/x"},
            "the plan's result for me differs from what the specs require",
        ),
        (
            {"servers_after": "x"},
            "the plan's result for me differs from what the specs require",
        ),
        ({"tools_after": PLAN.agents[0].tools_after[1:]}, "the plan's result for "),
        ({"tools_after": (*PLAN.agents[0].tools_after, "x")}, "the plan's result for "),
        (
            {"rules_after": ()},
            "the plan's result for the rules of me differs from what the specs require",
        ),
        ({"name": "you"}, "the plan and the specs have different agents"),
    ],
)
def test_letta_plan_is_invalid_if_its_agent_tools_or_rules_differ_from_the_specs(
    more: Any, message: str | None
) -> None:
    """Compare a saved plan with a new plan for the same state."""
    plan = replace(PLAN, agents=(replace(PLAN.agents[0], **more),))
    lines = list(_compare_outcomes(plan, PLAN))
    assert [line[: len(message or "")] for line in lines] == (
        [] if message is None else [message]
    )


def test_letta_plan_is_invalid_if_its_registry_tools_differ_from_the_specs() -> None:
    plan = replace(PLAN, registry={**PLAN.registry, "add": (None, "ours x")})
    assert list(_compare_outcomes(plan, PLAN)) == [
        "the plan's result for `add` differs from what the specs require"
    ]
    less = {k: v for k, v in PLAN.registry.items() if k != "add"}
    assert list(_compare_outcomes(replace(PLAN, registry=less), PLAN)) == []


def test_letta_apply_result_counts_the_first_agents_tools_and_rules() -> None:
    result = build_apply_result(PLAN, changed=True)
    assert (result.tools, result.rules, result.changed) == (7, 1, True)
    code = build_apply_result(replace(PLAN, backend="code"), changed=False)
    assert (code.tools, code.rules, code.changed) == (3, 1, False)
    without_agents = build_apply_result(
        replace(PLAN, agents=()), changed=False, missed=("x",)
    )
    assert (without_agents.tools, without_agents.rules, without_agents.missed) == (
        0,
        0,
        ("x",),
    )


BEFORE = AgentState("agent-1", "me", "letta_v1_agent", {}, ())
DESIRED_TOOLS: Any = SimpleNamespace(tools={"own": 1}, removed_names=("old",))


def baseline(saved: str, agent: str = "agent-1", *tools: str) -> Any:
    before = AgentBaseline("me", agent, "letta_v1_agent", {}, (), tools)
    return SimpleNamespace(
        saved=saved,
        find_agent=lambda asked: before if asked == agent else None,
        registry={"kept": 1},
        renamed={"was": "now"},
    )


@pytest.mark.parametrize(
    ("kept", "had", "at"),
    [
        ([], (), ""),
        ([baseline("2026-01-02T03:04:05.678901+00:00", "agent-2", "x")], (), ""),
        (
            [
                baseline("2025-01-02T03:04:05.678901+00:00", "agent-1", "y"),
                baseline(
                    "2026-01-02T03:04:05.678901+00:00",
                    "agent-1",
                    "x",
                    "own",
                    "old",
                    "kept",
                    "now",
                    "was",
                ),
                baseline("2027-01-02T03:04:05.678901+00:00", "agent-2", "z"),
            ],
            ("x", "was"),
            "2026-01-02T03:04:05Z",
        ),
    ],
)
def test_letta_agent_baseline_tools_come_from_the_agents_newest_baseline_file(
    kept: list[Any], had: tuple[str, ...], at: str
) -> None:
    """List other owners' tools that the agent had after its newest apply."""
    result = _add_baseline(BEFORE, DESIRED_TOOLS, kept)
    assert (tuple(result.baseline_tools), result.baseline_time) == (had, at)
