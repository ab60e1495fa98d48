"""Real external servers for the tests: odd ones, and one with four useful tools."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.external.servers.running import HttpServer
from toolcast_runtime import CallContext, ToolResponse
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external.external_tools import ExternalTools

SERVERS = Path(__file__).parent / "servers"
LOST = "the connection to the tool's server was lost"


def odd(mode: str, *words: str, name: str = "odd", **options: Any) -> ExternalServer:
    """A server of `servers/odd.py`, with short deadlines."""
    chosen: dict[str, Any] = {
        "connect_timeout": 20.0,
        "list_timeout": 3.0,
        "call_timeout": 3.0,
        **options,
    }
    script = str(SERVERS / "odd.py")
    return ExternalServer(
        name, command=sys.executable, args=(script, mode, *words), **chosen
    )


Open = Callable[..., ExternalTools]


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    """Gives the tools of servers, and ends them after the test."""
    made: list[ExternalTools] = []

    def make(*servers: ExternalServer, taken: tuple[str, ...] = ()) -> ExternalTools:
        made.append(ExternalTools(servers))
        made[-1].reserve_names(taken)
        return made[-1]

    yield make
    for tools in made:
        await tools.close()


async def call(tools: ExternalTools, name: str, **arguments: Any) -> ToolResponse:
    """Calls as the registry does: look-up, then the call."""
    tool = await tools.find_tool(name)
    assert tool is not None, f"{name} is not offered"
    return await tools.call_tool(tool, arguments, CallContext(name))


async def until(condition: Callable[[], bool], seconds: float = 15.0) -> None:
    """Waits for what happens in the background."""
    import asyncio

    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        await asyncio.sleep(0.02)


def processes(words: str) -> list[int]:
    """The processes of this machine whose command line has these words."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if words in line and state != "Z" and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


@pytest.fixture
def personal_http() -> Iterator[Callable[..., HttpServer]]:
    """Starts the useful server over HTTP."""
    running: list[HttpServer] = []

    def start(*words: str) -> HttpServer:
        running.append(HttpServer.started(*words))
        return running[-1]

    yield start
    for server in running:
        server.end()


def personal_stdio(name: str = "personal", **options: Any) -> ExternalServer:
    """The useful server over stdio."""
    script = str(SERVERS / "personal.py")
    return ExternalServer(name, command=sys.executable, args=(script,), **options)
