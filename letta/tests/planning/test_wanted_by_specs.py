"""What specs say of Letta: settings, and what a tool's definition has under `letta`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_letta.server_part.toolset import LettaToolset
from toolcast_letta.settings import LettaAgent, LettaBlock, LettaServer
from toolcast_letta.specs import (
    build_settings,
    build_tool_part,
    can_change_data,
    find_omission_reason,
    list_offered_tools,
)


def toolset(letta: Any = None, clients: Any = (), **more: Any) -> Any:
    known = {"exclusions": (), "extensions": {} if letta is None else {"letta": letta}}
    return SimpleNamespace(
        name="toys",
        clients=clients,
        find_client=lambda name: next(
            (one for one in clients if one.name == name), None
        ),
        **{**known, **more},
    )


def make_tool(letta: Any = None, **more: Any) -> Any:
    known = {"name": "a", "data": None, "annotations": None, "confirm": None}
    extensions = {} if letta is None else {"letta": letta}
    return SimpleNamespace(extensions=extensions, **{**known, **more})


def test_settings_that_specs_leave_out() -> None:
    plain = build_settings(toolset())
    assert (plain.server, plain.agents) == (LettaServer("toys"), ())
    assert (plain.backend, plain.on_start, plain.on_start_timeout_s) == (
        "v1",
        False,
        120.0,
    )
    said = build_settings(
        toolset(
            {
                "server": {"name": "x", "url": "http://a"},
                "backend": "code",
                "on_start": True,
                "on_start_timeout_s": 7,
                "agents": {
                    "me": {
                        "id": "1",
                        "type": "memgpt_agent",
                        "expects": ["a"],
                        "ends_turn": ["a"],
                        "forbids": [{"name": "b", "reason": "No."}],
                        "blocks": [{"label": "n", "content": "data"}],
                    },
                    "you": {"id_env": "YOU"},
                },
            }
        )
    )
    assert said.server == LettaServer("x", "http://a")
    assert (said.backend, said.on_start, said.on_start_timeout_s) == ("code", True, 7.0)
    assert isinstance(said.on_start_timeout_s, float)
    assert said.agents == (
        LettaAgent(
            "me",
            "1",
            None,
            "memgpt_agent",
            ("a",),
            ("a",),
            {"b": "No."},
            (LettaBlock("n", "data"),),
        ),
        LettaAgent("you", id_env="YOU"),
    )


@pytest.mark.parametrize(
    ("more", "changes"),
    [
        ({}, False),
        ({"data": {"reads": ["t"]}}, False),
        ({"data": {"writes": ["t"]}}, True),
        ({"data": {"deletes": ["t"]}}, True),
        ({"data": {"writes": []}}, False),
        ({"annotations": {"destructiveHint": True}}, True),
        ({"annotations": {"destructiveHint": False}}, False),
        ({"annotations": {"readOnlyHint": False}}, True),
        ({"annotations": {"readOnlyHint": True}}, False),
    ],
)
def test_a_call_changes_something(more: Any, changes: bool) -> None:
    assert can_change_data(make_tool(**more)) is changes
    assert (
        build_tool_part(toolset(), make_tool(**more)).get("changes_data", False)
        is changes
    )


LOOP = "It calls the agent's own loop."


@pytest.mark.parametrize(
    ("one", "part"),
    [
        (make_tool(), {"attached": False}),
        (make_tool({"attached": True}), {"attached": True}),
        (make_tool({"attached": True, "reason": "x"}), {"attached": True}),
        (
            make_tool({"attached": True}, name="left"),
            {"attached": False, "reason": "Out."},
        ),
        (
            make_tool({"reason": "x"}, name="left"),
            {"attached": False, "reason": "Out."},
        ),
        (make_tool({"attached": True}, name="other"), {"attached": True}),
        (make_tool({"reason": "x"}), {"attached": False, "reason": "x"}),
        (
            make_tool({"calls_agent_loop": True}),
            {"attached": False, "reason": LOOP, "calls_agent_loop": True},
        ),
        (
            make_tool(
                {"attached": True, "ends_turn": True, "requires_approval": False}
            ),
            {"attached": True, "ends_turn": True},
        ),
        (
            make_tool({"attached": True}, confirm="Sure?"),
            {"attached": True, "requires_approval": True},
        ),
    ],
)
def test_what_a_definition_says_of_letta(one: Any, part: Any) -> None:
    exclusions = (
        SimpleNamespace(tool="left", target="letta", reason="Out."),
        SimpleNamespace(tool="other", target="cli", reason="Out."),
    )
    made = toolset(exclusions=exclusions)
    assert build_tool_part(made, one) == part
    why = None if part["attached"] else part.get("reason", "it is not attached")
    assert find_omission_reason(made, one) == why


def test_the_server_shows_letta_what_its_client_may_have() -> None:
    tools = [make_tool(name="a"), make_tool(name="b")]
    client = SimpleNamespace(name="agent")

    def made(name: str | None, *clients: Any) -> list[Any]:
        server = {"server": {} if name is None else {"client": name}}
        return list_offered_tools(
            toolset(
                server,
                clients,
                list_target_tools=lambda _: tools,
                is_offered=lambda one, _: one.name == "b",
            )
        )

    assert made(None) == tools
    assert made("agent", client) == tools[1:]
    assert made("other", client) == made(None, client) == []


@pytest.mark.parametrize(
    ("name", "caller", "environment", "is_refused"),
    [
        ("loop", "1", {"YOU": "2"}, True),
        ("loop", "2", {"YOU": " 2 "}, True),
        ("loop", "3", {"YOU": "2"}, False),
        ("loop", "3", {}, True),
        ("loop", "", {}, False),
        ("add", "1", {"YOU": "2"}, False),
    ],
)
def test_a_circular_call_is_refused(
    name: str, caller: str, environment: Any, is_refused: bool
) -> None:
    parts = {"loop": {"letta": {"calls_agent_loop": True}}, "add": {}}
    registry: Any = SimpleNamespace(
        local_tools=[SimpleNamespace(name=n, parts=p) for n, p in parts.items()]
    )
    agents = (LettaAgent("me", id="1"), LettaAgent("you", id_env="YOU"))
    made = LettaToolset(
        name="toys", server=LettaServer("toys"), agents=agents, registry=registry
    )
    said = made.guard(name, {"x-agent-id": caller}, environment)
    assert (said is not None) is is_refused
    assert made.guard(name, {}, environment) is None
