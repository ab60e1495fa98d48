"""An agent that calls, in its turn, a tool that starts a turn of it, is refused."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from letta.tests.fake_letta import FakeLetta
from tests.mcp.servers import LEGACY, http_server

ROOT = Path(__file__).parents[3]


@pytest.fixture
def fake() -> Iterator[FakeLetta]:
    with FakeLetta() as fake:
        yield fake


@pytest.fixture
def ren(fake: FakeLetta, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The URL of ren's server for those who may call everything, and ren's id."""
    agent = fake.world.create_agent({"name": "ren"})
    env = {
        "REN_DATA": str(tmp_path),
        "LETTA_BASE_URL": fake.url,
        "REN_AGENT_ID": agent.id,
    }
    with http_server(ROOT, "generated.ren", env=env) as server:
        yield f"{server.url}/", agent.id


def called(url: str, tool: str, caller: str | None, **arguments: Any) -> Any:
    """The result of a call, as Letta sends it."""
    params = {"name": tool, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": LEGACY,
    }
    if caller is not None:
        headers["x-agent-id"] = caller
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read().decode()
    data = next(line for line in text.splitlines() if '"jsonrpc"' in line)
    return json.loads(data.removeprefix("data:"))["result"]


def test_the_agents_own_call_into_its_loop_is_refused(
    fake: FakeLetta, ren: tuple[str, str]
) -> None:
    url, agent = ren
    result = called(url, "send_to_ren", agent, message="Hello.")
    assert result["isError"] is True
    assert "would wait for itself" in result["content"][0]["text"]
    assert fake.faults.seen == [], "nothing reached the agent"


def test_others_may_call_into_the_loop(fake: FakeLetta, ren: tuple[str, str]) -> None:
    url, _ = ren
    for caller in (None, "agent-00000000-0000-4000-8000-000000000000"):
        fake.script = [{"text": "Hello yourself."}]
        result = called(url, "send_to_ren", caller, message="Hello.")
        assert "Hello yourself." in result["content"][0]["text"]


def test_the_agent_may_call_what_stays_out_of_its_loop(
    fake: FakeLetta, ren: tuple[str, str]
) -> None:
    url, agent = ren
    result = called(url, "create_notecard", agent, text="Ask Ted.")
    assert result.get("isError", False) is False


def test_while_its_id_is_not_known_every_agent_is_refused(
    fake: FakeLetta, tmp_path: Path
) -> None:
    env = {"REN_DATA": str(tmp_path), "LETTA_BASE_URL": fake.url, "REN_AGENT_ID": ""}
    with http_server(ROOT, "generated.ren", env=env) as server:
        result = called(f"{server.url}/", "send_to_ren", "agent-1", message="Hello.")
    assert "would wait for itself" in result["content"][0]["text"]
