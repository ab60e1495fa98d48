"""Effect of the server's progress heartbeat on the timeouts of the official SDK clients."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import mcp_types as types
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from tests.mcp.node_setup import find_node_tools
from tests.node_programs import cache_folder, node_and_npm

PACKAGE = "generated.faulty.mcp_server"
CLIENT = Path(__file__).with_name("patient_client.mjs")


@pytest.fixture
def modules() -> Iterator[Path]:
    """Yield the folder of the installed Node.js packages."""
    if find_node_tools() is None:
        pytest.skip("the Node.js clients are not set up: make test-node does it")
    yield cache_folder("toolcast-node", "TOOLCAST_NODE") / "node_modules"


@pytest.mark.node
@pytest.mark.parametrize(
    ("clients", "stdio"),
    [
        ("client/dist/index.mjs", "client/dist/stdio.mjs"),
        ("sdk/dist/esm/client/index.js", "sdk/dist/esm/client/stdio.js"),
    ],
)
def test_progress_heartbeat_extends_the_typescript_sdk_timeout_only_with_reset_on_progress(
    faulty_project: Path, modules: Path, clients: str, stdio: str
) -> None:
    """Without the reset option, or without a progress callback, the call times out."""
    node, _ = node_and_npm(modules.parent)
    official = modules / "@modelcontextprotocol"
    command = [str(node), str(CLIENT), str(official / clients), str(official / stdio)]
    run = subprocess.run(
        [*command, sys.executable, PACKAGE],
        cwd=faulty_project,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    calls = json.loads(run.stdout)
    assert calls["reset"]["text"] == "done"
    assert [message["progress"] for message in calls["reset"]["progress"]] == [0]
    assert "timed out" in calls["noReset"]["error"]
    assert [message["progress"] for message in calls["noReset"]["progress"]] == [0]
    assert "timed out" in calls["noProgress"]["error"]


@pytest.mark.slow
async def test_progress_heartbeat_does_not_extend_the_python_mcp_sdk_read_timeout(
    faulty_project: Path,
) -> None:
    """The Python client receives the progress, but its read timeout is not reset."""
    values: list[float] = []

    async def listen(progress: float, total: float | None, text: str | None) -> None:
        values.append(progress)

    command = StdioServerParameters(
        command=sys.executable, args=["-m", PACKAGE], cwd=faulty_project
    )
    async with stdio_client(command) as (read, write), ClientSession(read, write) as s:
        await s.initialize()
        # `call_tool` also lists the tools, and the client rejects some tools of this project.
        params = types.CallToolRequestParams(name="take_long", arguments={})
        call = types.CallToolRequest(params=params)
        send = partial(s.send_request, call, types.CallToolResult)
        unlimited = send(progress_callback=listen)
        limited = send(request_read_timeout_seconds=6.5, progress_callback=listen)
        result, error = await asyncio.gather(unlimited, limited, return_exceptions=True)
    assert isinstance(result, types.CallToolResult), result
    assert isinstance(error, MCPError), "update docs/handlers.md if it now waits"
    assert values == [0, 0]
