"""A server's process: what it makes at its start stays, and it ends as it is asked to.

Then calls are finished first, and after that what is open is closed.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

GRACE_SECONDS = 10
"""How long running calls may take to finish, unless the command line says otherwise."""

SIGNALS = (signal.SIGTERM, signal.SIGINT)
"""What asks a server to end."""

CLOSING_SECONDS = 5.0
"""How long it may take after that to cancel the calls and to close what is open."""

START_FAILED = 3
"""The exit code of a server whose lifespan cannot be started, which is uvicorn's, too."""


@contextmanager
def gc_freeze() -> Iterator[None]:
    """Collects nothing meanwhile, and afterwards nothing of what is there by then.

    Importing the SDK makes hundreds of classes, which stay: to look for garbage among them
    over and over is a tenth of the start, and later the longest pause of a call.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
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
