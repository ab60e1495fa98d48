"""A server's process: how it starts and ends, and MCP over its standard input and output.

What it makes at its start stays. When it is to end, calls are finished first, and after that
what is open is closed.

Needs `mcp` 2.x. Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..mcp.toolset_server import ToolsetServer

GRACE_SECONDS = 10
"""How long running calls may take to finish, unless the command line says otherwise."""

SIGNALS = (signal.SIGTERM, signal.SIGINT)
"""What asks a server to end."""

CLOSING_SECONDS = 5.0
"""How long it may take after that to cancel the calls and to close what is open."""

START_FAILED = 3
"""The exit code of a server whose lifespan cannot be started, which is uvicorn's, too."""

_GARBAGE = (10_000, 20, 20)
"""New objects that are looked through for garbage, and how many such looks are in a longer one."""


@contextmanager
def gc_freeze() -> Iterator[None]:
    """Collects nothing meanwhile, and afterwards nothing of what is there by then.

    From then on it is seldom looked for garbage: calls that are on their way are none, and of
    what they leave little waits for it. With 200 of them a fourth of the processor went there.

    Importing the SDK makes hundreds of classes, which stay: to look for garbage among them
    over and over is a tenth of the start, and later the longest pause of a call.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(*_GARBAGE)
        if was_enabled:
            gc.enable()


class Ending:
    """The signals of one process.

    The first asks the server to end, which then has the grace period and a few seconds. A
    server that is still there, because a handler does not let itself be cancelled, is left
    by `SystemExit(0)` in the main thread, so that functions of `atexit` run. A second
    signal ends the process at once, with 128 and its number, and runs nothing.

    Args:
        grace: seconds in which running calls may finish.
        is_worker: a supervisor decides what a second signal means, and sends one of its own
            where a terminal has signalled to the worker already.
    """

    def __init__(self, grace: float, *, is_worker: bool = False) -> None:
        self._grace = grace
        self._is_worker = is_worker
        self._stop: Callable[[], None] | None = None
        self._is_asked = False
        self._is_over = False

    def take_signals(self, stop: Callable[[], None] | None = None) -> None:
        """Handles the signals from now on; only the main thread can.

        Args:
            stop: called by the first one, in the main thread; None for nobody yet.
        """
        if threading.current_thread() is threading.main_thread():
            self._stop = stop
            for number in SIGNALS:
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._is_over:
            raise SystemExit(0)
        if self._is_asked:
            if not self._is_worker:
                os._exit(128 + number)
            return
        self._is_asked = True
        self.within(self._grace)
        if self._stop is None:
            raise SystemExit(0)
        self._stop()

    def within(self, grace: float) -> None:
        """Ends the process when the grace period and the time for closing are over."""
        if not self._is_worker:
            timer = threading.Timer(grace + CLOSING_SECONDS, self._give_up)
            timer.daemon = True
            timer.start()

    def _give_up(self) -> None:
        self._is_over = True
        # The handler runs in the main thread, which may wait for ever: it has to be woken.
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
        else:
            signal.raise_signal(signal.SIGTERM)


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
        from .streams import Incoming, Outgoing, tell

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

        ending.take_signals(lambda: tell(loop, end))
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
