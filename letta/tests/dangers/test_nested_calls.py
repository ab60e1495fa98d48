"""A handler, in an agent's turn, calls a tool that starts a turn of it: refused as well."""

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
from tests.ports import kept_port

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
# What stands there while `check` looks; on the server it is edited.
LOOKED_AT = "".join(
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
    project = make_project(TOOLS, toolset=TOOLSET, handlers=LOOKED_AT)
    project.generate()
    project.write("handlers/toy.py", HANDLERS)
    with served(project) as found:
        yield found


@contextmanager
def served(project: Any) -> Iterator[str]:
    nothing = subprocess.DEVNULL
    with kept_port() as port:
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


def called(url: str, tool: str, agent: str | None) -> dict[str, Any]:
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
    said: dict[str, Any] = json.loads(result["content"][0]["text"])
    return said


@pytest.mark.parametrize("tool", ["plain", "awaited", "threaded"])
def test_a_nested_call_is_refused_in_the_agents_turn(url: str, tool: str) -> None:
    said = called(url, tool, AGENT)
    assert said["result"] is None
    assert said["error"].startswith("wake_agent was not run: it sends a message to")
    # Of somebody else's call nothing is refused, and the refused one has run nothing.
    assert called(url, tool, None) == {"error": None, "result": {"woken": 1}}
