"""A command whose tool uses resources ends them, however it ends itself."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ...core.calls.work import run_sync
from ...core.registry.registry import Registry


@contextmanager
def closing(registry: Registry) -> Iterator[None]:
    """Closes the registry afterwards, also when SIGTERM asks the process to end.

    Not left to `atexit`: threads cannot be started by then, which an end may have to do.
    """
    # By itself the signal would end the process at once.
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if is_ours:
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        run_sync(registry.close())
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
