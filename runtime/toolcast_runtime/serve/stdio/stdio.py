"""Serves MCP over the process's standard input and output.

Needs `mcp` 2.x. Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import TYPE_CHECKING

from .process import GRACE_SECONDS, Ending, gc_freeze

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..mcp.toolset_server import ToolsetServer


def serve_over_stdio(
    served: ToolsetServer, client: str | None, grace: float = GRACE_SECONDS
) -> None:
    """Serves one client over standard input and output until the input or a signal ends it.

    What was asked before the end is answered within the grace period, or cancelled; then
    what is open is closed. Meanwhile and afterwards whatever prints, prints to stderr, and
    stdin is empty for it.

    Args:
        served: what is served.
        client: who is served.
        grace: seconds in which running calls may finish.

    Raises:
        UnknownClientError: the toolset has clients and this is none of them.
        AccessError: who may have which tool cannot be found out.
        LifespanError: the toolset's lifespan cannot be started.
        SystemExit: standard input or output is closed.
    """
    ending = Ending(grace)
    with gc_freeze():
        from ..mcp.sdk_server import build_server
        from .framing import Incoming, Outgoing

        server = build_server(served, client, takes_raw_json=True)

    async def serve(source: int, sink: int) -> None:
        outgoing = Outgoing(sink, grace)
        incoming = Incoming(source, outgoing)
        loop = asyncio.get_running_loop()
        options = server.create_initialization_options()
        starting = asyncio.ensure_future(served.registry.__aenter__())

        def end() -> None:
            starting.cancel()
            incoming.end()

        ending.take_signals(lambda: _told(loop, end))
        try:
            # A client is answered when everything is there that a call needs.
            await asyncio.wait({starting})
            if not starting.cancelled():
                starting.result()
                await server.run(incoming, outgoing, options)
        finally:
            # The input may have ended it: a handler that does not let itself be cancelled
            # keeps the loop from ending.
            ending.within(0)
            incoming.close()
            outgoing.close()
            await served.registry.close()

    try:
        source, sink = _claimed()
    except OSError as error:
        print(f"stdin and stdout are needed: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    asyncio.run(serve(source, sink))


def _told(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    """Runs a function in the loop, if it has not ended."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(what)


def _claimed() -> tuple[int, int]:
    """Private duplicates of stdin and stdout, which no child inherits.

    In their place are an empty input and stderr.
    """
    source, sink = _duplicate(0), _duplicate(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    sys.stdout.flush()
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
    os.close(nothing)
    if sys.platform == "win32":
        from mcp.os.win32.utilities import rebind_std_handle_to_fd

        rebind_std_handle_to_fd(0)
        rebind_std_handle_to_fd(1)
    return source, sink


def _duplicate(number: int) -> int:
    """A duplicate above the standard descriptors, one of which may be closed."""
    duplicate = os.dup(number)
    if duplicate > 2:
        return duplicate
    try:
        return _duplicate(number)
    finally:
        os.close(duplicate)
