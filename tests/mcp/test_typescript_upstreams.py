"""Calls to external servers of the official TypeScript SDKs that restart between calls."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.mcp.node_setup import find_node_tools
from tests.node_programs import cache_folder, node_and_npm
from tests.ports import reserve_port
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external.external_tools import ExternalTools

pytestmark = pytest.mark.node
SERVER = Path(__file__).with_name("upstream_server.mjs")


def start_server(mode: str, port: int) -> subprocess.Popen[str]:
    """Start the TypeScript server and wait until it accepts connections."""
    folder = cache_folder("toolcast-node", "TOOLCAST_NODE")
    official = folder / "node_modules" / "@modelcontextprotocol"
    node, _ = node_and_npm(folder)
    command = [str(node), str(SERVER), mode, str(port), str(official)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


@pytest.fixture
async def providers() -> AsyncIterator[list[ExternalTools]]:
    """List for external tools, which are closed at the end."""
    providers: list[ExternalTools] = []
    yield providers
    for provider in providers:
        await provider.close()


@pytest.mark.parametrize("is_proxied", [True, False])
@pytest.mark.parametrize("mode", ["sessions", "single", "modern"])
async def test_tool_call_to_a_restarted_external_typescript_mcp_server_is_answered(
    mode: str, is_proxied: bool, tmp_path: Path, providers: list[ExternalTools]
) -> None:
    """After a restart the server refuses the old session with status 400 or 404."""
    if find_node_tools() is None:
        pytest.skip("the Node.js servers are not set up: make test-node does it")
    with reserve_port() as port:
        process = start_server(mode, port)
        try:
            server = ExternalServer(
                "up", url=f"http://127.0.0.1:{port}/mcp", is_proxied=is_proxied
            )
            providers.append(ExternalTools([server]))
            specs = [definition("fetch", proxy="up")] if is_proxied else []
            registry = Registry(Package(tmp_path, *specs).load(), providers=providers)
            for _ in range(3):
                answer = await registry.call_tool("fetch", {})
                # In MCP 2026-07-28 the end of a subscription closes the connection.
                while mode == "modern" and not answer.success:
                    await asyncio.sleep(0.1)
                    answer = await registry.call_tool("fetch", {})
                assert answer.result == "hello", answer.error
                process.kill()
                process.wait()
                process = start_server(mode, port)
        finally:
            process.kill()
            process.wait()
