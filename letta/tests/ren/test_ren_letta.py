"""Ren's memory on a Letta server that fails, and calls that lead back to her."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generated.ren.registry import REGISTRY, call_tool_sync
from letta.tests.fake_letta import FakeLetta
from letta.tests.ren.conftest import Call
from tests.mcp.servers import http_server

ROOT = Path(__file__).parents[3]
CIRCULAR = ("send_to_ren", "get_session_brief", "add_portrait_signal", "search_signals")
AGENT = "agent-0a0a0a0a-0000-4000-8000-000000000000"


def test_a_message_is_kept_though_no_answer_comes(
    error_of: Any, letta: FakeLetta, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETTA_BASE_URL", "http://127.0.0.1:9")
    told = error_of("send_to_ren", message="Are you there?")
    assert told == "Letta is unreachable. Check the network and LETTA_BASE_URL."
    history = call_tool_sync("read_bridge_history", {}, "claude").result["entries"]
    assert [(one["speaker"], one["content"]) for one in history] == [
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


@pytest.fixture
def url(letta: FakeLetta) -> Iterator[str]:
    """Ren's server over HTTP."""
    with http_server(ROOT, "generated.ren", env=dict(os.environ)) as server:
        yield server.url


def test_letta_says_over_http_in_whose_turn_it_calls(
    url: str, letta: FakeLetta
) -> None:
    (agent,) = letta.world.agents.values()
    for tool in CIRCULAR:
        arguments = REGISTRY.get_tool(tool, "claude").examples[0]["arguments"]
        refused = post(url, tool, arguments, agent.id)
        assert refused["isError"]
        assert refused["content"][0]["text"].startswith(f"{tool} was not run")
    # Nothing was done: no message is kept, and none was sent.
    assert agent.messages == []
    card = post(url, "create_notecard", {"text": "Mine."}, agent.id)
    assert not card.get("isError")
    letta.script.append({"text": "Yes."})
    answered = post(url, "send_to_ren", {"message": "Hello?"}, None)
    assert answered["structuredContent"] == {"reply": "Yes.", "steps": 1}


def test_only_the_tools_that_are_not_hers_lead_back_to_ren() -> None:
    assert not set(CIRCULAR) & set(REGISTRY.names("ren"))


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
