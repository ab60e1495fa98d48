"""Refusal of calls by which a handler would start a turn of the agent that called it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.forked_servers import start
from tests.ports import reserve_port

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


def said(answer):
    return {"error": answer.error, "result": answer.result}


def plain():
    return said(registry().call_tool_sync(NAME, {}))


async def awaited():
    return said(await registry().call_tool(NAME, {}))


async def threaded():
    return await asyncio.to_thread(plain)
"""


@pytest.fixture
def url(make_project: Callable[..., Any]) -> Iterator[str]:
    project = make_project(TOOLS, toolset=TOOLSET, handlers=CHECKED_HANDLERS)
    project.generate()
    project.write("handlers/toy.py", HANDLERS)
    with run_server(project) as server_url:
        yield server_url


@contextmanager
def run_server(project: Any) -> Iterator[str]:
    nothing = subprocess.DEVNULL
    with reserve_port() as port:
        process = start(
            project.root,
            "generated.toy.mcp_server",
            "--http",
            "--port",
            str(port),
            env=os.environ,
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
        )
        try:
            for _ in range(600):
                try:
                    httpx.get(f"http://127.0.0.1:{port}/health", timeout=5)
                    break
                except httpx.HTTPError:
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/mcp/"
        finally:
            process.terminate()
            process.wait(timeout=30)


def call_tool(url: str, tool: str, agent: str | None) -> dict[str, Any]:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": {}},
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-06-18",
    }
    if agent is not None:
        headers["x-agent-id"] = agent
    answer = httpx.post(
        url, json=body, headers=headers, timeout=60, follow_redirects=True
    )
    line = next(line for line in answer.text.splitlines() if '"jsonrpc"' in line)
    result = json.loads(line.removeprefix("data:"))["result"]
    response: dict[str, Any] = json.loads(result["content"][0]["text"])
    return response


@pytest.mark.parametrize("tool", ["plain", "awaited", "threaded"])
def test_nested_call_into_the_agent_loop_is_refused_only_for_the_agent(
    url: str, tool: str
) -> None:
    response = call_tool(url, tool, AGENT)
    assert response["result"] is None
    assert response["error"].startswith("wake_agent was not run: it sends a message to")
    # Another caller's nested call runs; it is the first that reaches the tool.
    assert call_tool(url, tool, None) == {"error": None, "result": {"woken": 1}}
