"""The desired state for settings and environment variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from letta.tests.planning.states import make_tool
from toolcast_letta.code.entry_backups import EntryBackup
from toolcast_letta.plan.current_state import AgentState
from toolcast_letta.plan.desired_state import (
    DesiredState,
    MissingSettingError,
    build_desired_state,
)
from toolcast_letta.settings import LettaAgent, LettaServer, LettaSettings

SERVER = LettaServer("toys", url="http://mcp.test/mcp")
AGENT = LettaAgent("me", id="agent-1", expects=("z", "a"), ends_turn=("a",))


def build_desired(
    *tools: Any,
    server: Any = SERVER,
    agent: Any = AGENT,
    url: Any = None,
    **environment: str,
) -> DesiredState:
    settings = LettaSettings(name="toys", server=server, agents=(agent,))
    return build_desired_state(settings, tools, environment, server_url=url)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://a", ""),
        ("https://a:1/x", ""),
        ("ftp://a", "is not an http or https URL"),
        ("http://", "is not an http or https URL"),
        ("http://[", "is not an http or https URL"),
        ("http://me@a", "contains a password"),
        ("http://:pw@a", "contains a password"),
    ],
)
def test_build_desired_state_requires_an_http_mcp_server_url_without_credentials(
    url: str, problem: str
) -> None:
    if not problem:
        assert build_desired(url=url).server_url == url
        return
    with pytest.raises(MissingSettingError, match=problem):
        build_desired(url=url)


@pytest.mark.parametrize(
    ("fields", "environment", "found"),
    [
        (
            {},
            {},
            "the id of me is not set: set `id` or `id_env` in the toolset's `letta`",
        ),
        ({"id": "a"}, {"ID": "b"}, "a"),
        ({"id_env": "ID"}, {"ID": " b "}, "b"),
        (
            {"id_env": "ID"},
            {"ID": "  "},
            "the id of me is not set: set the environment variable ID",
        ),
        (
            {"id_env": "ID"},
            {},
            "the id of me is not set: set the environment variable ID",
        ),
        ({"id": "a", "id_env": "ID"}, {"ID": "b"}, "a"),
    ],
)
def test_build_desired_state_reads_the_agent_id_from_settings_or_environment(
    fields: Any, environment: Any, found: str
) -> None:
    agent = LettaAgent("me", **fields)
    if len(found) == 1:
        assert build_desired(agent=agent, **environment).agents[0].id == found
        return
    with pytest.raises(MissingSettingError) as error_info:
        build_desired(agent=agent, **environment)
    assert str(error_info.value) == found


def test_build_desired_state_reads_the_mcp_server_token_from_the_named_variable() -> (
    None
):
    assert build_desired(TOKEN="x").token is None
    named = SERVER._replace(token_env="TOKEN")
    found = build_desired(server=named, TOKEN="s3cret")
    assert found.token == "s3cret"
    with pytest.raises(
        MissingSettingError,
        match="the MCP server's token is not set: set the environment variable TOKEN",
    ):
        build_desired(server=named)


def test_build_desired_state_lists_attached_forbidden_and_withheld_letta_tools() -> (
    None
):
    loop = make_tool("loop", attached=False, calls_agent_loop=True)
    hidden = replace(make_tool("hidden"), is_offered=False)
    found = build_desired(
        make_tool("b", "was_b", "a"),
        make_tool("a"),
        make_tool("off", attached=False, ends_turn=True, requires_approval=True),
        loop,
        replace(loop, name="away", is_offered=False),
        hidden,
    )
    assert found.canonical == ("a", "b")
    assert found.removed_names == {"was_b": "b"}, "`a` is the name of another tool"
    assert found.withheld == {
        "away": "it calls the agent's own loop",
        "hidden": "the client that Letta uses may not call it",
    }
    assert found.agents[0].forbids == dict.fromkeys(
        ("loop", "away"), "It calls the agent's own loop."
    )
    assert found.agents[0].expected == {"a": True, "z": False}
    off = found.tools["off"]
    assert not off.ends_turn and not off.requires_approval and not off.needs_opt_in


@pytest.mark.parametrize(
    ("part", "needs_opt_in"),
    [({}, False), ({"changes_data": True}, True), ({"requires_approval": True}, True)],
)
def test_letta_tool_needs_opt_in_for_calls_if_it_changes_data_or_needs_approval(
    part: Any, needs_opt_in: bool
) -> None:
    """Call such a tool in `letta verify` only with `--call-changing`."""
    assert make_tool("a", **part).needs_opt_in is needs_opt_in


def test_letta_desired_state_select_agents_keeps_named_agents_and_rejects_unknown() -> (
    None
):
    found = build_desired()
    assert found.select_agents(["me"]) == found
    with pytest.raises(
        MissingSettingError, match="has no agent `you`\n  help: use one of me"
    ):
        found.select_agents(["me", "you"])


@pytest.mark.parametrize(
    "value",
    [
        DesiredState("toys", "toys", "http://a", "s3cret", {}, ()),
        AgentState("1", "me", "memgpt_agent", {}, (), servers=({"token": "s3cret"},)),
        EntryBackup("me", "1", None, "toys", {"token": "s3cret"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_repr_contains_no_token_for_letta_states_and_entry_backups(value: Any) -> None:
    """The repr of these values can be logged."""
    assert "s3cret" not in repr(value)
    assert type(value).__name__ in repr(value)
