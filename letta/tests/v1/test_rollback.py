"""Rollback: restored, kept and unrestorable parts for a baseline and a current state."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from letta.tests.planning.states import (
    index_by_name,
    make_built_in,
    make_current,
    make_desired,
    make_registered,
    make_rule,
    make_state,
    make_tool,
)
from toolcast_letta.plan.tool_rules import format_rule
from toolcast_letta.state.baseline import AgentBaseline, Baseline
from toolcast_letta.v1 import rollback
from toolcast_letta.v1.undoing import AgentUndo, build_undo

DESIRED = make_desired(make_tool("add"), make_tool("find", "seek"))


def make_baseline(
    tools: str, after: str, rules: Any = (), rules_after: Any = (), **more: Any
) -> Baseline:
    """Return the baseline of an apply that changed the agent's tools."""
    ids = {name: f"id-{name}" for name in tools.split()}
    agent = AgentBaseline(
        "me",
        "agent-1",
        "letta_v1_agent",
        ids,
        tuple(rules),
        tuple(after.split()),
        tuple(rules_after),
    )
    known = {"entry": "mcp-1", "saved": "2026"}
    return Baseline("toys", "http://a", "0.16.6", "toys", (agent,), **{**known, **more})


def build_undo_for(
    was: Baseline, now: str, rules: Any = (), gone: str = "", **more: Any
) -> Any:
    names = {*was.agents[0].tools, *was.agents[0].tools_after, *now.split(), "theirs"}
    own = {"add", "find", "seek"}
    kept = sorted(names - {*gone.split()})
    found = make_current(
        DESIRED,
        *(
            make_registered(name) if name in own else make_built_in(name)
            for name in kept
        ),
        agents={"me": make_state(*now.split(), rules=rules)},
    )
    restore = more.pop("restore", ())
    return build_undo(DESIRED, was, more.pop("later", ()), found, restore)


@pytest.mark.parametrize(
    ("was", "now", "more", "tools", "lost", "stays"),
    [
        # Attached tools are detached, and detached tools are attached again.
        (make_baseline("x", "x add"), "x add", {}, "x", [], []),
        (make_baseline("x y", "x"), "x", {}, "x y", [], []),
        # Later changes by others are kept.
        (
            make_baseline("x", "x add"),
            "x add theirs",
            {},
            "x theirs",
            [],
            ["me: `theirs` was attached since then"],
        ),
        (
            make_baseline("x y", "x y add"),
            "x add",
            {},
            "x",
            [],
            ["me: `y` was detached since then; pass --restore y to attach it again"],
        ),
        (make_baseline("x y", "x y add"), "x add", {"restore": ["y"]}, "x y", [], []),
        # Tools that are not in the registry cannot be attached.
        (
            make_baseline("x y", "x"),
            "x",
            {"gone": "y"},
            "x",
            [
                "me: `y` is not in the registry; deploy a version of the MCP server "
                "that has it, then roll back again"
            ],
            [],
        ),
        (
            make_baseline("x seek", "x find", renamed={"seek": "find"}),
            "x find",
            {"gone": "seek"},
            "x find",
            [
                "me: `seek` is not in the registry; it keeps `find`; deploy a "
                "version of the MCP server that has it, then roll back again"
            ],
            [],
        ),
        # Tools that a later apply attached are also detached.
        (
            make_baseline("x", "x add"),
            "x add y",
            {"later": [make_baseline("x add", "x add y")]},
            "x",
            [],
            [],
        ),
    ],
)
def test_letta_rollback_restores_baseline_tools_and_keeps_later_changes(
    was: Baseline, now: str, more: Any, tools: str, lost: list[str], stays: list[str]
) -> None:
    """Use a baseline: the state that is saved before an apply changes anything."""
    (agent,) = build_undo_for(was, now, **more).agents
    assert (list(agent.tools), list(agent.lost)) == (tools.split(), lost)
    assert list(agent.stays) == stays
    assert [line for line in agent.changes if "tool" in line] == [
        *(f"+ tool {name}" for name in agent.tools if name not in now.split()),
        *(f"- tool {name}" for name in now.split() if name not in agent.tools),
    ]


RUN, LOOP, EXIT = (
    make_rule("x", kind) for kind in ("run_first", "continue_loop", "exit_loop")
)
ASKS = make_rule("x", "requires_approval")
COUNT = make_rule("x", "max_count_per_step", max_count_limit=1)
TWICE = make_rule("x", "max_count_per_step", max_count_limit=2)


@pytest.mark.parametrize(
    ("before", "after", "now", "rules", "stays"),
    [
        ([RUN], [], [], [RUN], []),
        ([], [RUN], [RUN], [], []),
        ([RUN], [RUN], [RUN, LOOP], [RUN, LOOP], []),
        ([RUN], [RUN], [], [], ["me: the rule x run_first was removed since then"]),
        # Continue and approval rules are restored, because agents need them.
        ([LOOP], [LOOP], [], [LOOP], []),
        ([ASKS], [ASKS], [], [ASKS], []),
        (
            [LOOP],
            [LOOP],
            [EXIT],
            [EXIT],
            ["me: the rule x continue_loop was removed since then"],
        ),
        (
            [COUNT],
            [COUNT],
            [TWICE],
            [TWICE],
            [
                "me: the rule x max_count_per_step (max_count_limit=1) was changed "
                "since then"
            ],
        ),
        ([COUNT], [TWICE], [TWICE], [COUNT], []),
    ],
)
def test_letta_rollback_restores_baseline_tool_rules_and_keeps_later_changes(
    before: Any, after: Any, now: Any, rules: Any, stays: list[str]
) -> None:
    (agent,) = build_undo_for(make_baseline("x", "x", before, after), "x", now).agents
    assert (list(agent.rules), list(agent.stays)) == (rules, stays)
    assert list(agent.changes) == [
        *(f"+ rule {format_rule(item)}" for item in rules if item not in now),
        *(f"- rule {format_rule(item)}" for item in now if item not in rules),
    ]


def test_letta_rollback_lists_rules_for_unrestorable_tools_as_lost() -> None:
    """Restore no rule for a tool that is missing in Letta's registry."""
    child = make_rule("x", "constrain_child_tools", children=["y"])
    was = make_baseline("x y", "x", [child, make_rule("y", "run_first")])
    (agent,) = build_undo_for(was, "x", gone="y").agents
    assert [line for line in agent.lost if "rule" in line] == [
        "me: the rule x constrain_child_tools (children=['y'])",
        "me: the rule y run_first",
    ]
    assert agent.rules == ()


def test_letta_rollback_lists_changes_that_it_cannot_restore() -> None:
    was = make_baseline(
        "x", "x add", entry=None, registry={"gone": "d"}, holders={"z": ("you (2)",)}
    )
    found = build_undo_for(was, "x add")
    assert found.register == ()
    assert found.lost == (
        "`z` was also removed from other agents, where it is not restored: you (2)",
    )
    assert found.stays == (
        "the entry toys was created since then",
        "`add` was registered since then",
        "`gone` was deleted from the registry since then",
    )
    known = replace(was, entry="mcp-1", registry={})
    assert build_undo_for(known, "x").stays == ("`add` was registered since then",)
    later = make_baseline("x", "x", holders={"a": ("they",)})
    assert len(build_undo_for(was, "x add", later=[later]).lost) == 2
    own = build_undo_for(replace(was, registry={"add": "another"}), "x add").stays
    assert (
        "the description or schema of `add` was changed since then: deploy "
        "the previous version of the MCP server, and apply"
    ) in own


def test_letta_rollback_registers_tools_and_restores_their_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    restored: list[Any] = []
    done: list[Any] = []
    undo = SimpleNamespace(
        agents=(), register=("a", "b"), lost=("l",), stays=("s", "s")
    )
    was = make_baseline("x", "x", settings={"a": {"return_char_limit": 1}, "c": {}})
    baselines: Any = SimpleNamespace(
        lock=contextlib.nullcontext, finish=lambda item: done.append(item)
    )
    api: Any = SimpleNamespace(register_tool=lambda *args: done.append(args))
    monkeypatch.setattr(
        rollback, "read_current_state", lambda *_: make_current(DESIRED)
    )
    monkeypatch.setattr(rollback, "read_registry", lambda _: index_by_name())
    monkeypatch.setattr(rollback, "_build_undo", lambda *_: undo)
    monkeypatch.setattr(
        rollback, "restore_settings", lambda _, again, __: restored.append(again)
    )
    found = rollback.roll_back(api, DESIRED, was, baselines)
    assert restored == [{"a": {"return_char_limit": 1}}]
    assert done == [("toys", "a"), ("toys", "b"), was]
    assert (found.agents, found.lost, found.stays) == (0, ("l",), ("s",))
    undo.register = ()
    rollback.roll_back(api, DESIRED, was, baselines)
    assert len(restored) == 1


@pytest.mark.parametrize(
    ("now", "after", "sent", "messages"),
    [
        (("x",), ("x",), 0, []),
        (("x", "y"), ("x",), 1, []),
        (
            ("x", "y"),
            ("x", "y"),
            1,
            ["me differs from what was sent: another client changed it meanwhile"],
        ),
    ],
)
def test_letta_rollback_changes_an_agent_only_if_it_differs(
    monkeypatch: pytest.MonkeyPatch,
    now: Any,
    after: Any,
    sent: int,
    messages: list[str],
) -> None:
    states = [make_state(*now), make_state(*after)]
    monkeypatch.setattr(rollback, "read_agent", lambda *_: states.pop(0))
    changed: list[Any] = []
    api: Any = SimpleNamespace(set_tools_and_rules=lambda *args: changed.append(args))
    undo = AgentUndo("me", "agent-1", ("x",), (), (), (), ())
    found = make_current(DESIRED, make_built_in("x"))
    assert rollback._restore_agent(api, undo, found, lambda _: None) == messages
    assert changed == [("agent-1", ["id-x"], ())] * sent
    lacking = replace(undo, tools=("x", "gone"))
    assert rollback._restore_agent(api, lacking, found, lambda _: None) == [
        "me was not changed: `gone` could not be registered again"
    ]


def test_letta_rollback_includes_later_baselines_only_for_selected_agents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Undo the chosen apply and all later applies."""
    calls: list[Any] = []
    monkeypatch.setattr(rollback, "build_undo", lambda *args: calls.append(args))
    was, later = make_baseline("x", "x"), make_baseline("x", "x", saved="2027")
    before = make_baseline("x", "x", saved="2025")
    baselines: Any = SimpleNamespace(list_all=lambda *_: [before, was, later])
    found = make_current(DESIRED)
    api: Any = None
    rollback._build_undo(api, DESIRED, was, baselines, found, ("r",))
    nobody = replace(DESIRED, agents=())
    rollback._build_undo(api, nobody, was, baselines, found, ())
    assert calls[0] == (DESIRED, was, [later], found, ("r",), {"agent-1": {}})
    assert calls[1][1].agents == ()
