"""Ren's memory on a Letta server that fails, and calls that lead back to her."""

from __future__ import annotations

import json
import os
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from generated.ren.registry import REGISTRY, call_tool_sync
from tests.examples.ren.conftest import Call
from tests.letta.fake_letta import FakeLetta
from tests.mcp.servers import http_server

ROOT = Path(__file__).parents[3]
CIRCULAR = ("send_to_ren", "get_session_brief", "add_portrait_signal", "search_signals")
AGENT = "agent-0a0a0a0a-0000-4000-8000-000000000000"


def test_a_message_is_kept_though_no_answer_comes(
    error_of: Any, letta: FakeLetta, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy import select

    from examples.ren.main_tables import bridge_transcripts
    from examples.ren.pools import main_pool

    monkeypatch.setenv("LETTA_BASE_URL", "http://127.0.0.1:9")
    told = error_of("send_to_ren", message="Are you there?")
    assert told == "Letta is unreachable. Check the network and LETTA_BASE_URL."
    with main_pool() as connection:
        rows = connection.execute(select(bridge_transcripts)).all()
    assert [(row.speaker, row.content) for row in rows] == [
        ("caller", "Are you there?")
    ]


def test_a_key_that_is_wrong_is_not_shown(
    error_of: Any, letta: FakeLetta, monkeypatch: pytest.MonkeyPatch
) -> None:
    letta.world.password = "right"
    monkeypatch.setenv("LETTA_API_KEY", "hunter2")
    told = error_of("list_core_memory_blocks")
    assert told == "Letta does not accept the key in LETTA_API_KEY."
    monkeypatch.setenv("LETTA_API_KEY", "right")
    assert call_tool_sync("list_core_memory_blocks", {}, "claude").error is None


def test_an_agent_that_is_not_there(
    error_of: Any, letta: FakeLetta, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REN_AGENT_ID", AGENT)
    assert "REN_AGENT_ID" in error_of("read_core_memory", block_label="persona")


def test_nothing_reaches_the_cloud_by_default(
    error_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETTA_API_KEY", "sk-real")
    monkeypatch.setenv("REN_AGENT_ID", AGENT)
    told = error_of("list_core_memory_blocks")
    assert told == "Letta is not connected: LETTA_BASE_URL is unset."


def test_a_block_takes_what_its_limit_says(error_of: Any, letta: FakeLetta) -> None:
    (agent,) = letta.world.agents.values()
    agent.blocks["persona"]["limit"] = 10
    told = error_of("write_core_memory", block_label="persona", value="x" * 11)
    assert told == "The block `persona` takes 10 characters, not 11."
    assert agent.blocks["persona"]["value"] == "I am Ren."


def test_threads_are_named_by_their_beginning(
    call: Call, error_of: Any, letta: Any
) -> None:
    for text in ("Ask Ted about exports.", "Ask Ted about dates."):
        call("update_open_threads", action="add", thread=text)
    told = error_of("update_open_threads", action="close", thread="Ask Ted")
    assert told == "2 threads begin with 'Ask Ted'; say more of it."
    told = error_of("update_open_threads", action="add", thread="Ask Ted about dates.")
    assert told == "This thread is open already."


@pytest.mark.parametrize("tool", CIRCULAR)
def test_a_call_out_of_a_turn_is_refused_before_anything_is_done(
    tool: str, letta: FakeLetta
) -> None:
    import asyncio

    arguments = REGISTRY.get_tool(tool, "claude").examples[0]["arguments"]
    response = asyncio.run(REGISTRY.call_tool(tool, arguments, "claude", agent=AGENT))
    assert response.error is not None
    assert response.error.startswith(f"`{tool}` sends a message to an agent")
    assert letta.world.agents
    assert all(not agent.messages for agent in letta.world.agents.values())


def test_only_the_circular_tools_are_refused() -> None:
    loops = [t.name for t in REGISTRY.tools("claude") if t.calls_agent_loop]
    assert sorted(loops) == sorted(CIRCULAR)
    assert not set(loops) & set(REGISTRY.names("ren"))


def test_letta_says_over_http_in_whose_turn_it_calls(letta: FakeLetta) -> None:
    letta.script += [{"text": "Yes."}]
    with http_server(ROOT, "generated.ren", env=dict(os.environ)) as server:
        refused = post(server.url, "send_to_ren", {"message": "Hello?"}, AGENT)
        assert refused["isError"]
        assert "in an agent's turn" in refused["content"][0]["text"]
        card = post(server.url, "create_notecard", {"text": "Mine."}, AGENT)
        assert not card.get("isError")
        answered = post(server.url, "send_to_ren", {"message": "Hello?"}, None)
        assert answered["structuredContent"] == {"reply": "Yes.", "steps": 1}


def post(url: str, tool: str, arguments: Any, agent: str | None) -> Any:
    """A `tools/call` as Letta's client sends it."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
        **({"X-Agent-Id": agent} if agent else {}),
    }
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        text = response.read().decode()
    if not text.startswith("{"):
        lines = [line[5:] for line in text.splitlines() if line.startswith("data:")]
        text = lines[-1]
    return json.loads(text)["result"]
