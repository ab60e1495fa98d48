"""The SDK's session over streams of our own, without the relay that it puts between.

The SDK reads a connection's first request to know its protocol era, and hands that and all
that follows over through a stream of its own: two more turns of the event loop a message.
`Incoming` can show its first request without giving it away, so that the SDK's functions for
each era are called with it directly.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .stdio_calls import DirectCalls

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from mcp.server import Server

    from .stdio_reading import Incoming
    from .stdio_writing import Outgoing

__all__ = ["is_direct", "serve_session"]


async def serve_session(
    server: Server[Any], incoming: Incoming, outgoing: Outgoing
) -> None:
    """Serves one connection, in the era of its first request, until it ends."""
    options = server.create_initialization_options()
    if not is_direct():
        await server.run(incoming, outgoing, options)
        return
    from mcp.server import runner

    try:
        async with server.lifespan(server) as state:
            first = await incoming.first_request()
            if (
                first is not None
                and first.method != "initialize"
                and runner._has_modern_envelope(first.params)
            ):
                await runner._serve_modern_stream(
                    *(server, incoming, outgoing),
                    lifespan_state=state,
                    raise_exceptions=False,
                )
            else:
                incoming.direct = DirectCalls(server, outgoing)
                await runner._serve_legacy_stream(
                    *(server, incoming, outgoing),
                    lifespan_state=state,
                    session_id=None,
                    init_options=options,
                    raise_exceptions=False,
                )
    finally:
        await incoming.aclose()
        await outgoing.aclose()


def is_direct() -> bool:
    """Whether the installed SDK has the functions that are called directly, as they are known.

    They are not its public interface; without them it serves with the relay.
    """
    from mcp.server import runner

    more = ("session_id", "init_options")
    return (
        callable(getattr(runner, "_has_modern_envelope", None))
        and _takes(getattr(runner, "_serve_modern_stream", None))
        and _takes(getattr(runner, "_serve_legacy_stream", None), *more)
    )


def _takes(
    function: Callable[..., Coroutine[Any, Any, None]] | None, *more: str
) -> bool:
    known = ["server", "read_stream", "write_stream", "lifespan_state", *more]
    if function is None:
        return False
    return [*inspect.signature(function).parameters] == [*known, "raise_exceptions"]
