"""Refusal of calls by which an agent would start a turn of its own during a turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from letta.tests.fake_letta import FakeLetta
from tests.http.serving import Server, rpc, run_server

ROOT = Path(__file__).parents[3]


@pytest.fixture
def fake() -> Iterator[FakeLetta]:
    with FakeLetta() as fake:
        yield fake


@pytest.fixture
def ren(fake: FakeLetta, tmp_path: Path) -> Iterator[tuple[Server, str]]:
    """Serve ren without clients; yield the server and ren's agent id."""
    agent = fake.world.create_agent({"name": "ren"})
    env = {
        "REN_DATA": str(tmp_path),
        "LETTA_BASE_URL": fake.url,
        "REN_AGENT_ID": agent.id,
    }
    with run_server(package="generated.ren", env=env) as server:
        yield server, agent.id


def call_tool(server: Server, tool: str, caller: str | None, **arguments: Any) -> Any:
    """Return the result of a tool call in the form that Letta sends it."""
    body, headers = rpc("tools/call", {"name": tool, "arguments": arguments})
    if caller is not None:
        headers["x-agent-id"] = caller
    return server.send("/mcp/", body, headers).message["result"]


def test_letta_agent_call_to_a_tool_that_messages_the_same_agent_is_refused(
    fake: FakeLetta, ren: tuple[Server, str]
) -> None:
    server, agent = ren
    result = call_tool(server, "send_to_ren", agent, message="Hello.")
    assert result["isError"] is True
    assert "would wait for itself" in result["content"][0]["text"]
    assert fake.faults.seen == [], "nothing reached the agent"


def test_other_callers_can_call_a_tool_that_messages_the_letta_agent(
    fake: FakeLetta, ren: tuple[Server, str]
) -> None:
    server, _ = ren
    for caller in (None, "agent-00000000-0000-4000-8000-000000000000"):
        fake.script = [{"text": "Hello yourself."}]
        result = call_tool(server, "send_to_ren", caller, message="Hello.")
        assert "Hello yourself." in result["content"][0]["text"]


def test_letta_agent_can_call_a_tool_that_sends_the_agent_no_message(
    fake: FakeLetta, ren: tuple[Server, str]
) -> None:
    server, agent = ren
    result = call_tool(server, "create_notecard", agent, text="Ask Ted.")
    assert result.get("isError", False) is False


def test_call_to_a_tool_that_messages_an_agent_is_refused_if_its_agent_id_is_not_set(
    fake: FakeLetta, tmp_path: Path
) -> None:
    env = {"REN_DATA": str(tmp_path), "LETTA_BASE_URL": fake.url, "REN_AGENT_ID": ""}
    with run_server(package="generated.ren", env=env) as server:
        result = call_tool(server, "send_to_ren", "agent-1", message="Hello.")
    assert "would wait for itself" in result["content"][0]["text"]
