"""Serves MCP over the process's standard input and output.

Needs `mcp` 2.x. Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

from .gc_freeze import gc_freeze

if TYPE_CHECKING:
    from .toolset_server import ToolsetServer

__all__ = ["serve_over_stdio"]


def serve_over_stdio(served: ToolsetServer, client: str | None) -> None:
    """Serves one client over standard input and output until the input ends.

    Meanwhile and afterwards whatever prints, prints to stderr, and stdin is empty for it.

    Raises:
        UnknownClientError: the toolset has clients and this is none of them.
        AccessError: who may have which tool cannot be found out.
        SystemExit: standard input or output is closed; or a person has ended it.
    """
    with gc_freeze():
        from .framing import Incoming, Outgoing
        from .sdk_server import build_server

        server = build_server(served, client, takes_raw_json=True)

    async def serve(source: int, sink: int) -> None:
        outgoing = Outgoing(sink)
        incoming = Incoming(source, outgoing)
        options = server.create_initialization_options()
        try:
            await server.run(incoming, outgoing, options)
        finally:
            incoming.close()
            outgoing.close()
            await served.registry.close()

    try:
        source, sink = _claimed()
    except OSError as error:
        print(f"stdin and stdout are needed: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    try:
        asyncio.run(serve(source, sink))
    except KeyboardInterrupt:
        # Ctrl-C is how a person ends it; a traceback would look like a failure.
        sys.exit(130)


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
