"""Settings and tool definitions that are built from the `letta` parts of specs."""

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


def make_toolset(letta: Any = None, clients: Any = (), **more: Any) -> Any:
    known = {"exclusions": (), "extensions": {} if letta is None else {"letta": letta}}
    return SimpleNamespace(
        name="toys",
        clients=clients,
        find_client=lambda name: next(
            (item for item in clients if item.name == name), None
        ),
        **{**known, **more},
    )


def make_spec(letta: Any = None, **more: Any) -> Any:
    known = {"name": "a", "data": None, "annotations": None, "confirm": None}
    extensions = {} if letta is None else {"letta": letta}
    return SimpleNamespace(extensions=extensions, **{**known, **more})


def test_build_settings_reads_letta_settings_from_the_toolset_spec_or_uses_defaults() -> (
    None
):
    plain = build_settings(make_toolset())
    assert (plain.server, plain.agents) == (LettaServer("toys"), ())
    assert (plain.backend, plain.on_start, plain.on_start_timeout_s) == (
        "v1",
        False,
        120.0,
    )
    settings = build_settings(
        make_toolset(
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
    assert settings.server == LettaServer("x", "http://a")
    assert (settings.backend, settings.on_start, settings.on_start_timeout_s) == (
        "code",
        True,
        7.0,
    )
    assert isinstance(settings.on_start_timeout_s, float)
    assert settings.agents == (
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
def test_can_change_data_is_true_for_declared_writes_deletes_or_mcp_annotations(
    more: Any, changes: bool
) -> None:
    assert can_change_data(make_spec(**more)) is changes
    assert (
        build_tool_part(make_toolset(), make_spec(**more)).get("changes_data", False)
        is changes
    )


LOOP = "It calls the agent's own loop."


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        (make_spec(), {"attached": False}),
        (make_spec({"attached": True}), {"attached": True}),
        (make_spec({"attached": True, "reason": "x"}), {"attached": True}),
        (
            make_spec({"attached": True}, name="left"),
            {"attached": False, "reason": "Out."},
        ),
        (
            make_spec({"reason": "x"}, name="left"),
            {"attached": False, "reason": "Out."},
        ),
        (make_spec({"attached": True}, name="other"), {"attached": True}),
        (make_spec({"reason": "x"}), {"attached": False, "reason": "x"}),
        (
            make_spec({"calls_agent_loop": True}),
            {"attached": False, "reason": LOOP, "calls_agent_loop": True},
        ),
        (
            make_spec(
                {"attached": True, "ends_turn": True, "requires_approval": False}
            ),
            {"attached": True, "ends_turn": True},
        ),
        (
            make_spec({"attached": True}, confirm="Sure?"),
            {"attached": True, "requires_approval": True},
        ),
    ],
)
def test_build_tool_part_returns_letta_attachment_rules_and_omission_reason(
    spec: Any, part: Any
) -> None:
    exclusions = (
        SimpleNamespace(tool="left", target="letta", reason="Out."),
        SimpleNamespace(tool="other", target="cli", reason="Out."),
    )
    declaring_toolset = make_toolset(exclusions=exclusions)
    assert build_tool_part(declaring_toolset, spec) == part
    reason = None if part["attached"] else part.get("reason", "it is not attached")
    assert find_omission_reason(declaring_toolset, spec) == reason


def test_list_offered_tools_returns_only_tools_allowed_to_the_letta_client() -> None:
    """Read the client's name from `letta.server.client` in the toolset spec."""
    tools = [make_spec(name="a"), make_spec(name="b")]
    client = SimpleNamespace(name="agent")

    def list_offered(name: str | None, *clients: Any) -> list[Any]:
        server = {"server": {} if name is None else {"client": name}}
        return list_offered_tools(
            make_toolset(
                server,
                clients,
                list_target_tools=lambda _: tools,
                is_offered=lambda item, _: item.name == "b",
            )
        )

    assert list_offered(None) == tools
    assert list_offered("agent", client) == tools[1:]
    assert list_offered("other", client) == list_offered(None, client) == []


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
def test_toolset_guard_refuses_its_own_agents_calls_to_a_tool_that_runs_an_agent_turn(
    name: str, caller: str, environment: Any, is_refused: bool
) -> None:
    parts = {"loop": {"letta": {"calls_agent_loop": True}}, "add": {}}
    registry: Any = SimpleNamespace(
        local_tools=[SimpleNamespace(name=n, parts=p) for n, p in parts.items()]
    )
    agents = (LettaAgent("me", id="1"), LettaAgent("you", id_env="YOU"))
    letta_toolset = LettaToolset(
        name="toys", server=LettaServer("toys"), agents=agents, registry=registry
    )
    refusal = letta_toolset.guard(name, {"x-agent-id": caller}, environment)
    assert (refusal is not None) is is_refused
    assert letta_toolset.guard(name, {}, environment) is None
