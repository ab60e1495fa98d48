"""A thread with an event loop of its own, which outlives the loops of those who use it.

A connection belongs to the loop that made it. With a loop of their own, connections are
shared by callers in any loop and by callers without one, and what happens in them holds up
no caller.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["LoopThread"]

_Result = TypeVar("_Result")


class LoopThread:
    """An event loop in a daemon thread, started at the first use.

    Args:
        name: the thread's name.
        closing: what is awaited in the loop before it ends; also when the program ends.
        patience: seconds that `closing` may take.
    """

    def __init__(
        self,
        name: str,
        closing: Callable[[], Coroutine[Any, Any, None]],
        patience: float = 10.0,
    ) -> None:
        self._name = name
        self._closing = closing
        self._patience = patience
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = 0

    @property
    def is_current(self) -> bool:
        """Whether the caller runs in the thread itself."""
        return threading.current_thread() is self._thread

    async def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """What a coroutine gives in the thread's loop; cancellation reaches it."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Coroutine[Any, Any, _Result]) -> Future[_Result]:
        """Starts a coroutine in the thread's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._running())

    def close(self) -> None:
        """Awaits `closing`, then ends the loop and the thread. May be called again."""
        with self._lock:
            loop, thread = self._loop, self._thread
            is_ours = self._process == os.getpid()
            self._loop = self._thread = None
        if loop is None or thread is None or not is_ours or not thread.is_alive():
            return
        atexit.unregister(self.close)
        closing = asyncio.run_coroutine_threadsafe(self._closing(), loop)
        with contextlib.suppress(Exception):
            closing.result(self._patience)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(self._patience)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            # A forked child has the loop, but not the thread that ran it.
            if self._loop is None or self._process != os.getpid():
                self._process = os.getpid()
                self._loop = loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(loop,), name=self._name, daemon=True
                )
                self._thread.start()
                atexit.register(self.close)
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left, timeout=2.0))
        # A turn in which asyncio closes the pipes of what has ended.
        loop.run_until_complete(asyncio.sleep(0))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
