"""Calls to servers of the official TypeScript SDKs, which restart between two calls."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.mcp.node_setup import installed
from tests.node_programs import cache_folder, node_and_npm
from tests.ports import kept_port
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external.external_tools import ExternalTools

pytestmark = pytest.mark.node
SERVER = Path(__file__).with_name("upstream_server.mjs")


def start(mode: str, port: int) -> subprocess.Popen[str]:
    folder = cache_folder("toolcast-node", "TOOLCAST_NODE")
    official = folder / "node_modules" / "@modelcontextprotocol"
    node, _ = node_and_npm(folder)
    command = [str(node), str(SERVER), mode, str(port), str(official)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


@pytest.fixture
async def tools() -> AsyncIterator[list[ExternalTools]]:
    opened: list[ExternalTools] = []
    yield opened
    for entry in opened:
        await entry.close()


@pytest.mark.parametrize("is_proxied", [True, False])
@pytest.mark.parametrize("mode", ["sessions", "single", "modern"])
async def test_restarted_typescript_server_answers_the_next_call(
    mode: str, is_proxied: bool, tmp_path: Path, tools: list[ExternalTools]
) -> None:
    """Both protocol versions; an unknown session is 400 or 404, with a JSON-RPC error."""
    if installed() is None:
        pytest.skip("the Node.js servers are not set up: make test-node does it")
    with kept_port() as port:
        process = start(mode, port)
        try:
            server = ExternalServer(
                "up", url=f"http://127.0.0.1:{port}/mcp", is_proxied=is_proxied
            )
            tools.append(ExternalTools([server]))
            specs = [definition("fetch", proxy="up")] if is_proxied else []
            registry = Registry(Package(tmp_path, *specs).load(), providers=tools)
            for _ in range(3):
                answer = await registry.call_tool("fetch", {})
                # The end of a subscription (MCP 2026-07-28) ends the connection.
                while mode == "modern" and not answer.success:
                    await asyncio.sleep(0.1)
                    answer = await registry.call_tool("fetch", {})
                assert answer.result == "hello", answer.error
                process.kill()
                process.wait()
                process = start(mode, port)
        finally:
            process.kill()
            process.wait()
