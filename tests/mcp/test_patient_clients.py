"""What a heartbeat does to the time-outs of the official clients: they are real ones."""

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

from tests.mcp.node_setup import installed
from tests.node_programs import cache_folder, node_and_npm

PACKAGE = "generated.unkind.mcp_server"
CLIENT = Path(__file__).with_name("patient_client.mjs")


@pytest.fixture
def modules() -> Iterator[Path]:
    if installed() is None:
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
def test_a_typescript_client_that_resets_at_progress_goes_on_waiting(
    unkind: Path, modules: Path, clients: str, stdio: str
) -> None:
    node, _ = node_and_npm(modules.parent)
    official = modules / "@modelcontextprotocol"
    command = [str(node), str(CLIENT), str(official / clients), str(official / stdio)]
    ran = subprocess.run(
        [*command, sys.executable, PACKAGE],
        cwd=unkind,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    came = json.loads(ran.stdout)
    assert came["reset"]["text"] == "done"
    assert [told["progress"] for told in came["reset"]["told"]] == [0]
    assert "timed out" in came["kept"]["error"]
    assert [told["progress"] for told in came["kept"]["told"]] == [0]
    assert (
        "timed out" in came["silent"]["error"]
    ), "who asks for nothing is told nothing"


@pytest.mark.slow
async def test_a_python_client_is_told_and_waits_no_longer(unkind: Path) -> None:
    told: list[float] = []

    async def listen(progress: float, total: float | None, text: str | None) -> None:
        told.append(progress)

    command = StdioServerParameters(
        command=sys.executable, args=["-m", PACKAGE], cwd=unkind
    )
    async with stdio_client(command) as (read, write), ClientSession(read, write) as s:
        await s.initialize()
        # Not `call_tool`, which lists the tools as well, and some of these are odd.
        params = types.CallToolRequestParams(name="take_long", arguments={})
        call = types.CallToolRequest(params=params)
        send = partial(s.send_request, call, types.CallToolResult)
        patient = send(progress_callback=listen)
        hasty = send(request_read_timeout_seconds=6.5, progress_callback=listen)
        done, late = await asyncio.gather(patient, hasty, return_exceptions=True)
    assert isinstance(done, types.CallToolResult), done
    assert isinstance(late, MCPError), "if it waits now, say so in docs/handlers.md"
    assert told == [0, 0]
