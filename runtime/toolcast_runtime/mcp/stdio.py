"""MCP over stdin and stdout under the SDK's own session, without its worker threads.

The SDK's transport hands every line and every answer to threads: two thirds of a short call.
Here the event loop reads and writes the pipes itself, and never waits for one: what a client
does not read is kept, up to a bound, and then nothing more is read from it. Windows and
anything but pipes and sockets are served by the SDK's transport.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from .session import serve_session
from .stdio_reading import Incoming
from .stdio_writing import Outgoing

if TYPE_CHECKING:
    from mcp.server import Server

    from .toolset_server import ToolsetServer

__all__ = ["serve_stdio"]


async def serve_stdio(build: Callable[[bool], Server[Any]]) -> None:
    """Serves the process's stdin and stdout until stdin ends.

    Afterwards and meanwhile whatever prints, prints to stderr, and stdin is empty for it.

    Args:
        build: gives the server; True when a result of `tools/list` may hold `RawJson`.
    """
    if not _is_lean():
        from mcp.server.stdio import stdio_server

        server = build(False)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
        return
    server = build(True)
    async with _pipes() as (incoming, outgoing):
        await serve_session(server, incoming, outgoing)


def _is_lean() -> bool:
    if sys.platform == "win32":
        return False
    try:
        modes = (os.fstat(0).st_mode, os.fstat(1).st_mode)
    except OSError:
        return False
    return all(stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) for mode in modes)


@asynccontextmanager
async def _pipes() -> AsyncIterator[tuple[Incoming, Outgoing]]:
    source, sink = _taken(0), _taken(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdout.flush()
    # What is printed stays in buffers until the end: stdout is never given back.
    os.dup2(2, 1)
    outgoing = Outgoing(sink)
    incoming = Incoming(source, outgoing)
    try:
        yield incoming, outgoing
    finally:
        incoming.close()
        outgoing.close()
        os.close(source)
        os.close(sink)


def _taken(number: int) -> int:
    """A private duplicate that no child inherits, above the standard ones."""
    import fcntl

    return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)


def serve_over_stdio(server: ToolsetServer, client: str | None) -> None:
    """Serves one client over standard input and output until the input ends."""
    import asyncio

    from .sdk_server import build_server

    try:
        asyncio.run(
            serve_stdio(
                lambda is_lean: build_server(server, client, takes_raw_json=is_lean)
            )
        )
    except KeyboardInterrupt:
        # Ctrl-C is how a person ends it; a traceback would look like a failure.
        sys.exit(130)
