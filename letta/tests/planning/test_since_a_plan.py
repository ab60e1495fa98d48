"""What has changed since a plan was made, and what is on the way to its end."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from letta.tests.planning.states import (
    CORE,
    make_agent_state,
    make_current_state,
    make_desired_state,
    make_entry,
    make_registered_tool,
    make_rule,
    make_tool,
    offer_tools,
)
from toolcast_letta.plan.applying import _compare_outcomes, build_apply_result
from toolcast_letta.plan.changes_since import list_changes_since
from toolcast_letta.plan.current_state import AgentState, CurrentState
from toolcast_letta.plan.planning import build_plan
from toolcast_letta.state.baseline import AgentBaseline
from toolcast_letta.v1.server_backend import _add_baseline

WANTED = make_desired_state(
    make_tool("add"), make_tool("end_day", ends_turn=True), make_tool("find", "seek")
)
OTHERS = make_registered_tool("theirs", server_id="mcp-2")
HAD = (*CORE, "add", "seek", "theirs")


def found(*names: str, rules: Any = (), **more: Any) -> CurrentState:
    """What the plan was made for, but for what is said."""
    known = {
        "agents": {"me": make_agent_state(*(names or HAD), rules=rules)},
        "entry": make_entry("http://old.test", has_token=False),
    }
    tools = (make_registered_tool("add"), make_registered_tool("seek"), OTHERS)
    return make_current_state(WANTED, *tools, **{**known, **more})


PLAN = build_plan("here", WANTED, found())


def with_agent(**more: Any) -> CurrentState:
    me = found().agents["me"]
    return found(agents={"me": replace(me, **more)})


def with_tools(*gone: str, **more: Any) -> CurrentState:
    known = {k: v for k, v in found().registry.items() if k not in gone}
    return found(registry={**known, **more})


@pytest.mark.parametrize(
    ("now", "changes"),
    [
        (found(), []),
        # Each step of applying it.
        (found(entry=make_entry()), []),
        (with_tools("seek", find=make_registered_tool("find")), []),
        (with_tools("seek", end_day=make_registered_tool("end_day")), []),
        (found(*CORE, "add", "theirs", "find", "end_day"), []),
        (found(rules=[make_rule("end_day", "exit_loop")]), []),
        # What somebody else does.
        (
            found(version="0.16.7"),
            ["Letta's version is 0.16.7; the plan was made for 0.16.6"],
        ),
        (
            found(unreachable="away", offered={}),
            ["Letta cannot list the MCP server's tools: away"],
        ),
        (
            found(
                offered=offer_tools(
                    make_tool("add"), make_tool("end_day"), make_tool("more")
                )
            ),
            [
                "the MCP server added, changed or removed `find`",
                "the MCP server added, changed or removed `more`",
            ],
        ),
        (found(entry=make_entry("http://new.test")), ["the entry `toys` was changed"]),
        (found(entry=make_entry(is_http=False)), ["the entry `toys` was changed"]),
        (found(entry=make_entry("http://old.test")), ["the entry `toys` was changed"]),
        (
            with_tools(add=make_registered_tool("add", digest="x")),
            ["`add` was changed in the registry"],
        ),
        (
            with_tools(own=make_registered_tool("own")),
            ["`own` was added to the registry"],
        ),
        (with_tools(other=make_registered_tool("other", server_id="mcp-2")), []),
        (
            with_agent(type="memgpt_agent"),
            ["the type of me changed from letta_v1_agent to memgpt_agent"],
        ),
        (found(*HAD, "got"), ["`got` was attached to me"]),
        (found(*CORE, "add", "seek"), ["`theirs` was detached from me"]),
        (found(*CORE, "seek", "theirs"), []),
        (
            with_agent(tools={**found().agents["me"].tools, "theirs": "another"}),
            ["`theirs` of me was replaced by another tool of that name"],
        ),
        (
            with_agent(tools={**found().agents["me"].tools, "gone": "another"}),
            ["`gone` was attached to me"],
        ),
        (
            found(rules=[make_rule("add", "exit_loop")]),
            ["the rules of me were changed"],
        ),
    ],
)
def test_what_others_did_is_seen(now: CurrentState, changes: list[str]) -> None:
    said = list_changes_since(PLAN, "here", WANTED, now)
    assert [one[: len(two)] for one, two in zip(said, changes, strict=True)] == changes


def test_an_id_that_the_registry_has_is_no_other_tool() -> None:
    tools = {**found().agents["me"].tools, "theirs": "id-anew"}
    registry = {**found().registry, "theirs": replace(OTHERS, id="id-anew")}
    now = found(
        agents={"me": replace(make_agent_state(), tools=tools)}, registry=registry
    )
    assert list_changes_since(PLAN, "here", WANTED, now) == []
    without = {k: v for k, v in registry.items() if k != "theirs"}
    assert list_changes_since(PLAN, "here", WANTED, replace(now, registry=without)) == [
        "`theirs` of me was replaced by another tool of that name"
    ]


@pytest.mark.parametrize(
    ("place", "wanted", "said"),
    [
        ("there", WANTED, "the plan is for here, not for there"),
        (
            "here",
            replace(WANTED, toolset="others"),
            "the specs or their settings have changed",
        ),
        ("here", replace(WANTED, server_url="http://x"), "the specs or their settings"),
        (
            "here",
            replace(WANTED, agents=()),
            "the specs or their settings have changed",
        ),
    ],
)
def test_a_plan_for_something_else_is_none(place: str, wanted: Any, said: str) -> None:
    assert list_changes_since(PLAN, place, wanted, found())[0].startswith(said)
    assert len(list_changes_since(PLAN, place, wanted, found())) == 1
    other = replace(PLAN, backend="code")
    assert list_changes_since(other, "here", WANTED, found()) == [
        "the plan is for here, not for here"
    ]


@pytest.mark.parametrize(
    ("more", "said"),
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
        (
            {"tools_after": PLAN.agents[0].tools_after[1:]},
            "the plan's result for ",
        ),
        ({"tools_after": (*PLAN.agents[0].tools_after, "x")}, "the plan's result for "),
        (
            {"rules_after": ()},
            "the plan's result for the rules of me differs from what the specs require",
        ),
        ({"name": "you"}, "the plan and the specs have different agents"),
    ],
)
def test_a_plan_ends_where_the_specs_lead(more: Any, said: str | None) -> None:
    was = replace(PLAN, agents=(replace(PLAN.agents[0], **more),))
    lines = list(_compare_outcomes(was, PLAN))
    assert [line[: len(said or "")] for line in lines] == (
        [] if said is None else [said]
    )


def test_what_the_plan_does_to_the_registry_is_where_the_specs_lead() -> None:
    was = replace(PLAN, registry={**PLAN.registry, "add": (None, "ours x")})
    assert list(_compare_outcomes(was, PLAN)) == [
        "the plan's result for `add` differs from what the specs require"
    ]
    less = {k: v for k, v in PLAN.registry.items() if k != "add"}
    assert list(_compare_outcomes(replace(PLAN, registry=less), PLAN)) == []


def test_what_was_done_is_counted_of_the_first_agent() -> None:
    done = build_apply_result(PLAN, changed=True)
    assert (done.tools, done.rules, done.changed) == (7, 1, True)
    code = build_apply_result(replace(PLAN, backend="code"), changed=False)
    assert (code.tools, code.rules, code.changed) == (3, 1, False)
    nobody = build_apply_result(replace(PLAN, agents=()), changed=False, missed=("x",))
    assert (nobody.tools, nobody.rules, nobody.missed) == (0, 0, ("x",))


BEFORE = AgentState("agent-1", "me", "letta_v1_agent", {}, ())
WISHED: Any = SimpleNamespace(tools={"own": 1}, removed_names=("old",))


def baseline(saved: str, make_agent: str = "agent-1", *tools: str) -> Any:
    before = AgentBaseline("me", make_agent, "letta_v1_agent", {}, (), tools)
    return SimpleNamespace(
        saved=saved,
        find_agent=lambda asked: before if asked == make_agent else None,
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
def test_the_newest_baseline_of_the_agent_counts(
    kept: list[Any], had: tuple[str, ...], at: str
) -> None:
    found = _add_baseline(BEFORE, WISHED, kept)
    assert (tuple(found.baseline_tools), found.baseline_time) == (had, at)
