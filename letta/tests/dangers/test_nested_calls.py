"""Refusal of calls by which a handler would start a turn of the agent that called it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.http.serving import Server, rpc, run_server

AGENT = "agent-00000000-0000-4000-8000-000000000001"
TOOLSET = f"""
targets: {{mcp: {{}}, registry: {{}}, letta: {{}}}}
letta:
  server: {{name: toy, url: "http://mcp.test/mcp"}}
  agents: {{keeper: {{id: {AGENT}}}}}
"""
TOOL = """
    summary: Look something up.
    parameters: {type: object}
    handler: handlers.toy:NAME
    letta: {attached: true}
    """
TOOLS = {
    **{name: TOOL.replace("NAME", name) for name in ("plain", "awaited", "threaded")},
    "wake_agent": """
        summary: Ask the agent something.
        parameters: {type: object}
        handler: handlers.toy:wake
        letta: {attached: false, calls_agent_loop: true}
        """,
}
# The handlers that `check` reads; the server imports HANDLERS, which it would refuse.
CHECKED_HANDLERS = "".join(
    f"def {name}():\n    return {{}}\n\n\n"
    for name in ("plain", "awaited", "threaded", "wake")
)
HANDLERS = """
import asyncio

WOKEN = []
NAME = "wake_agent"


def registry():
    from importlib import import_module

    return import_module("generated.toy.registry")


def wake():
    WOKEN.append(1)
    return {"woken": len(WOKEN)}


def to_dict(answer):
    return {"error": answer.error, "result": answer.result}


def plain():
    return to_dict(registry().call_tool_sync(NAME, {}))


async def awaited():
    return to_dict(await registry().call_tool(NAME, {}))


async def threaded():
    return await asyncio.to_thread(plain)
"""


@pytest.fixture
def server(make_project: Callable[..., Any]) -> Iterator[Server]:
    project = make_project(TOOLS, toolset=TOOLSET, handlers=CHECKED_HANDLERS)
    project.generate()
    project.write("handlers/toy.py", HANDLERS)
    with run_server(package="generated.toy", root=project.root) as server:
        yield server


def call_tool(server: Server, tool: str, agent: str | None) -> dict[str, Any]:
    """Call a tool as Letta does, with the id of the agent."""
    body, headers = rpc("tools/call", {"name": tool, "arguments": {}})
    if agent is not None:
        headers["x-agent-id"] = agent
    result = server.send("/mcp/", body, headers).message["result"]
    response: dict[str, Any] = json.loads(result["content"][0]["text"])
    return response


@pytest.mark.parametrize("tool", ["plain", "awaited", "threaded"])
def test_nested_tool_call_that_messages_the_agent_is_refused_only_for_that_agent(
    server: Server, tool: str
) -> None:
    response = call_tool(server, tool, AGENT)
    assert response["result"] is None
    assert response["error"].startswith("wake_agent was not run: it sends a message to")
    # Another caller's nested call runs; it is the first that reaches the tool.
    assert call_tool(server, tool, None) == {"error": None, "result": {"woken": 1}}
