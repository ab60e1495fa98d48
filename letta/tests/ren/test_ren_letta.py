"""Ren's memory tools with a failing Letta server, and calls that lead back to her."""

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


def test_send_to_ren_tool_stores_the_message_if_letta_is_unreachable(
    call_for_error: Any, letta: FakeLetta, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETTA_BASE_URL", "http://127.0.0.1:9")
    error = call_for_error("send_to_ren", message="Are you there?")
    assert error == "Letta is unreachable. Check the network and LETTA_BASE_URL."
    history = call_tool_sync("read_bridge_history", {}, "claude").result["entries"]
    assert [(entry["speaker"], entry["content"]) for entry in history] == [
        ("caller", "Are you there?")
    ]


def test_letta_memory_tool_error_for_a_wrong_api_key_does_not_contain_the_key(
    call_for_error: Any, letta: FakeLetta, monkeypatch: pytest.MonkeyPatch
) -> None:
    letta.world.password = "right"
    monkeypatch.setenv("LETTA_API_KEY", "hunter2")
    error = call_for_error("list_core_memory_blocks")
    assert error == "Letta does not accept the key in LETTA_API_KEY."
    monkeypatch.setenv("LETTA_API_KEY", "right")
    assert call_tool_sync("list_core_memory_blocks", {}, "claude").error is None


def test_read_core_memory_tool_error_for_an_unknown_agent_names_ren_agent_id(
    call_for_error: Any, letta: FakeLetta, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REN_AGENT_ID", AGENT)
    assert "REN_AGENT_ID" in call_for_error("read_core_memory", block_label="persona")


def test_letta_memory_tool_fails_without_base_url_and_does_not_use_letta_cloud(
    call_for_error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LETTA_API_KEY", "sk-real")
    monkeypatch.setenv("REN_AGENT_ID", AGENT)
    error = call_for_error("list_core_memory_blocks")
    assert error == "Letta is not configured: LETTA_BASE_URL is unset."


def test_write_core_memory_tool_refuses_text_longer_than_the_block_limit(
    call_for_error: Any, letta: FakeLetta
) -> None:
    (agent,) = letta.world.agents.values()
    agent.blocks["persona"]["limit"] = 10
    error = call_for_error("write_core_memory", block_label="persona", value="x" * 11)
    assert error == "The block `persona` accepts 10 characters, not 11."
    assert agent.blocks["persona"]["value"] == "I am Ren."


def test_update_open_threads_tool_refuses_ambiguous_or_duplicate_threads(
    call: Call, call_for_error: Any, letta: Any
) -> None:
    for text in ("Ask Ted about exports.", "Ask Ted about dates."):
        call("update_open_threads", action="add", thread=text)
    error = call_for_error("update_open_threads", action="close", thread="Ask Ted")
    assert error == "2 threads begin with 'Ask Ted'; use a longer beginning."
    error = call_for_error(
        "update_open_threads", action="add", thread="Ask Ted about dates."
    )
    assert error == "This thread is already open."


@pytest.fixture
def url(letta: FakeLetta) -> Iterator[str]:
    """Serve ren over HTTP; yield the server's URL."""
    with http_server(ROOT, "generated.ren", env=dict(os.environ)) as server:
        yield server.url


def test_tools_that_message_the_agent_refuse_calls_with_its_x_agent_id_header(
    url: str, letta: FakeLetta
) -> None:
    (agent,) = letta.world.agents.values()
    for tool in CIRCULAR:
        arguments = REGISTRY.get_tool(tool, "claude").examples[0]["arguments"]
        refused = call_tool_over_http(url, tool, arguments, agent.id)
        assert refused["isError"]
        assert refused["content"][0]["text"].startswith(f"{tool} was not run")
    # The refused calls stored and sent no message.
    assert agent.messages == []
    card = call_tool_over_http(url, "create_notecard", {"text": "Mine."}, agent.id)
    assert not card.get("isError")
    letta.script.append({"text": "Yes."})
    answered = call_tool_over_http(url, "send_to_ren", {"message": "Hello?"}, None)
    assert answered["structuredContent"] == {"reply": "Yes.", "steps": 1}


def test_registry_offers_the_ren_agent_no_tool_that_messages_the_agent() -> None:
    assert not set(CIRCULAR) & set(REGISTRY.names("ren"))


def call_tool_over_http(url: str, tool: str, arguments: Any, agent: str | None) -> Any:
    """Return the result of a `tools/call` in the form that Letta sends it."""
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
