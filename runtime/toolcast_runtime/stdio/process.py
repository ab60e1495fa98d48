"""Start and stop a server's process, and serve MCP over standard input and output.

At shutdown, running calls are finished first; then all resources are closed.

Requires `mcp` 2.x.
Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..mcp.toolset_server import ToolsetServer

DEFAULT_GRACE_S = 10
"""Default time that running calls may take to finish at shutdown (option `--grace`)."""

SIGNALS = (signal.SIGTERM, signal.SIGINT)
"""Signals that shut a server down."""

CLOSE_TIMEOUT_S = 5.0
"""Time after the grace period to cancel the calls and to close all resources."""

START_FAILED = 3
"""The exit code of a server whose lifespan function failed; uvicorn uses the same code."""

_GC_THRESHOLDS = (10_000, 20, 20)
"""Thresholds of the garbage collector: fewer collections than with Python's defaults."""


@contextmanager
def gc_freeze() -> Iterator[None]:
    """Disable the garbage collector in a block; later collections skip the block's objects.

    Importing the MCP SDK creates hundreds of classes that are never freed. Searching them for
    garbage takes a tenth of the start time, and causes the longest pauses of later calls.

    After the block, collections are rarer: objects of running calls are not garbage, and
    finished calls leave few reference cycles. With 200 concurrent calls, Python's default
    thresholds cost a quarter of the processor time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
        if was_enabled:
            gc.enable()


class ProcessSignals:
    """Signal handlers of a server process.

    The first signal shuts the server down, within the grace period and five seconds for
    closing. If the server still runs then, because a handler cannot be cancelled, the main
    thread raises `SystemExit(0)`, so that `atexit` functions run. A second signal kills the
    process at once with the exit code 128 + signal number; `atexit` functions do not run.

    Args:
        grace: seconds that running calls may take at shutdown.
        is_worker: whether a supervisor controls the process. The supervisor decides about a
            second signal and the timeout: a worker often gets two signals, one from the
            terminal and one from the supervisor.
    """

    def __init__(self, grace: float, *, is_worker: bool = False) -> None:
        self._grace = grace
        self._is_worker = is_worker
        self._stop: Callable[[], None] | None = None
        self._is_shutting_down = False
        self._has_timed_out = False

    def install_handlers(self, stop: Callable[[], None] | None = None) -> None:
        """Install the signal handlers; has no effect outside of the main thread.

        Args:
            stop: the function that the first signal calls, in the main thread; with None
                the first signal raises `SystemExit(0)`.
        """
        if threading.current_thread() is threading.main_thread():
            self._stop = stop
            for number in SIGNALS:
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._has_timed_out:
            raise SystemExit(0)
        if self._is_shutting_down:
            if not self._is_worker:
                os._exit(128 + number)
            return
        self._is_shutting_down = True
        self.exit_after(self._grace)
        if self._stop is None:
            raise SystemExit(0)
        self._stop()

    def exit_after(self, grace: float) -> None:
        """Exit the process if it still runs after a grace period and the time for closing."""
        if not self._is_worker:
            timer = threading.Timer(grace + CLOSE_TIMEOUT_S, self._force_exit)
            timer.daemon = True
            timer.start()

    def _force_exit(self) -> None:
        self._has_timed_out = True
        # Send a signal to the main thread, which may be blocked in a handler: only a signal
        # interrupts it.
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
        else:
            signal.raise_signal(signal.SIGTERM)


_shared_descriptors: list[Callable[[], Iterable[int]]] = []
"""Functions that list the file descriptors which forked children must not use."""


def detach_forked_children(list_descriptors: Callable[[], Iterable[int]]) -> None:
    """Replace file descriptors by /dev/null in each child process that is forked later.

    A forked child, such as a `multiprocessing` process, inherits all descriptors. If it
    outlives the server, clients would wait for the end of the output, and the server's port
    would stay in use. Programs that `subprocess` starts do not inherit the descriptors.

    Args:
        list_descriptors: lists the descriptors at the time of a fork.
    """
    if hasattr(os, "register_at_fork") and not _shared_descriptors:
        os.register_at_fork(
            before=_block_signals,
            after_in_parent=_restore_signals,
            after_in_child=_detach,
        )
    _shared_descriptors.append(list_descriptors)


_signal_mask = threading.local()
"""Signals that the current thread blocked before its fork, to be restored afterwards."""


def _block_signals() -> None:
    # Block signals during the fork: a signal that arrives in the child before `_detach` would
    # run the server's handler there.
    _signal_mask.before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def _restore_signals() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _signal_mask.before)


def _detach() -> None:
    """In a forked child, disable the server's file descriptors and signal handlers."""
    null_device = os.open(os.devnull, os.O_RDWR)
    for list_descriptors in _shared_descriptors:
        for descriptor in list_descriptors():
            # Replace the descriptor instead of closing it: an inherited object may close its
            # number later, which by then could belong to a file of the child.
            with suppress(OSError):
                os.dup2(null_device, descriptor, inheritable=False)
    os.close(null_device)
    # The inherited signal handlers would shut down the child's copy of the server, but the
    # child must end.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _restore_signals()


def serve_over_stdio(
    served: ToolsetServer, client: str | None, grace: float = DEFAULT_GRACE_S
) -> None:
    """Serve one client over stdin and stdout until the input ends or a signal.

    Running calls may finish within the grace period, and are cancelled after it. Then all
    resources are closed. From the call on, other code of the process that writes to stdout
    writes to stderr, and stdin is empty for it.

    Args:
        served: the tools to serve.
        client: the name of the client.
        grace: seconds that running calls may take at shutdown.

    Raises:
        UnknownClientError: the toolset does not have the client.
        AccessError: the client's access to the tools cannot be determined.
        LifespanError: the toolset's lifespan function failed.
        SystemExit: standard input or output is closed.
    """
    ending = ProcessSignals(grace)
    with gc_freeze():
        from ..mcp.sdk_server import build_server
        from .streams import IncomingMessages, OutgoingMessages, call_in_loop

        server = build_server(served, client, takes_raw_json=True)

    async def serve(source: int, sink: int) -> None:
        outgoing = OutgoingMessages(sink, grace)
        incoming = IncomingMessages(source, outgoing)
        loop = asyncio.get_running_loop()
        options = server.create_initialization_options()
        starting = asyncio.ensure_future(served.registry.__aenter__())

        def stop() -> None:
            starting.cancel()
            incoming.stop()

        ending.install_handlers(lambda: call_in_loop(loop, stop))
        try:
            # Answer no request before the lifespans, which provide dependencies, have started.
            await asyncio.wait({starting})
            if not starting.cancelled():
                starting.result()
                await server.run(incoming, outgoing, options)
        finally:
            # Limit the time for closing: a handler that cannot be cancelled would keep the
            # process running, even after the end of the input.
            ending.exit_after(0)
            incoming.close()
            outgoing.close()
            await served.registry.close()

    try:
        source, sink = _claim_stdio()
    except OSError as error:
        message = f"cannot use stdin and stdout: {error.strerror}"
        print(message, file=sys.stderr)
        sys.exit(2)
    detach_forked_children(lambda: (source, sink))
    asyncio.run(serve(source, sink))


def _claim_stdio() -> tuple[int, int]:
    """Return duplicates of stdin and stdout that child processes do not inherit.

    The descriptors 0 and 1 then refer to an empty input and to stderr, so that handlers and
    child processes cannot read or write MCP messages.
    """
    source, sink = _duplicate(0), _duplicate(1)
    null_device = os.open(os.devnull, os.O_RDWR)
    os.dup2(null_device, 0)
    sys.stdout.flush()
    try:
        os.dup2(2, 1)
    except OSError:
        # stderr is closed, so discard the output of handlers.
        os.dup2(null_device, 1)
    os.close(null_device)
    if sys.platform == "win32":
        from mcp.os.win32.utilities import rebind_std_handle_to_fd

        rebind_std_handle_to_fd(0)
        rebind_std_handle_to_fd(1)
    return source, sink


def _duplicate(descriptor: int) -> int:
    """Return a duplicate of a descriptor with a number above 2.

    If stderr is closed, a plain `os.dup` could return its number 2.
    """
    duplicate = os.dup(descriptor)
    if duplicate > 2:
        return duplicate
    try:
        return _duplicate(descriptor)
    finally:
        os.close(duplicate)
