"""Real external servers: faulty ones on demand, and one with four useful tools."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.external.servers.http_servers import PersonalServer, run_personal_server
from tests.waiting import wait_until
from toolcast_runtime import CallContext, ToolResponse
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external.external_tools import ExternalTools

SERVERS = Path(__file__).parent / "servers"
CONNECTION_LOST = "the connection to the tool's server was lost"
WAIT_TIMEOUT_S = 60.0


def odd_server(
    mode: str, *args: str, name: str = "odd", **options: Any
) -> ExternalServer:
    """Return the settings of a server of `servers/odd.py`, with short timeouts."""
    settings: dict[str, Any] = {
        "connect_timeout": 20.0,
        "list_timeout": 3.0,
        "call_timeout": 3.0,
        **options,
    }
    script = str(SERVERS / "odd.py")
    return ExternalServer(
        name, command=sys.executable, args=(script, mode, *args), **settings
    )


Open = Callable[..., ExternalTools]


@pytest.fixture
async def open_tools() -> AsyncIterator[Open]:
    """Return a function that opens the tools of servers, closed after the test."""
    opened: list[ExternalTools] = []

    def open_servers(
        *servers: ExternalServer, reserved_names: tuple[str, ...] = ()
    ) -> ExternalTools:
        opened.append(ExternalTools(servers))
        opened[-1].reserve_names(reserved_names)
        return opened[-1]

    yield open_servers
    for tools in opened:
        await tools.close()


async def call_tool(tools: ExternalTools, name: str, **arguments: Any) -> ToolResponse:
    """Find and call a tool, in the steps of the registry."""
    tool = await tools.find_tool(name)
    assert tool is not None, f"{name} is not offered"
    return await tools.call_tool(tool, arguments, CallContext(name))


async def wait_for_tool(tools: ExternalTools, name: str) -> None:
    """Wait until the servers offer a tool."""
    async with asyncio.timeout(WAIT_TIMEOUT_S):
        while await tools.find_tool(name) is None:
            await asyncio.sleep(0.05)


def find_processes(text: str) -> list[int]:
    """Return the ids of the other running processes with a text in their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if text in line and state != "Z" and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def wait_for_no_processes(text: str) -> None:
    """Wait until no process has a text in its command line."""
    wait_until(lambda: not find_processes(text), lambda: find_processes(text))


@pytest.fixture
def start_personal_server() -> Iterator[Callable[..., PersonalServer]]:
    """Return a function that starts the useful server over HTTP."""
    with ExitStack() as running:
        yield lambda *args: running.enter_context(run_personal_server(*args))
