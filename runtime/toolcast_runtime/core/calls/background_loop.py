"""One event loop in a thread of its own, which outlives the loops of those who use it.

For callers that have no loop, and for connections that belong to a loop and are shared by
callers in any. The thread is a daemon and runs until the process ends.
"""

from __future__ import annotations

import os
import threading
from contextlib import nullcontext
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..context import CURRENT_CALL

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

_PATIENCE_SECONDS = 2.0
"""How long a handler may take to end when whoever waits for it is interrupted."""

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_waiting: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar(
    "loop_that_waits", default=None
)


async def in_background(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """What a coroutine gives in the background loop; cancellation reaches it."""
    return await in_loop(background_loop(), coroutine)


async def in_loop(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, _Result]
) -> _Result:
    """What a coroutine gives in a loop that runs; cancellation reaches it."""
    import asyncio

    if asyncio.get_running_loop() is loop:
        return await coroutine
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))


def run_sync(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """What a coroutine gives, awaited in the background loop in the caller's context.

    The calling thread waits, also when it runs a loop itself. An interruption of the wait
    cancels the coroutine; handlers that it ran have a moment to end. So does the end of the
    call whose handler waits.

    Raises:
        CancelledError: nobody waits any more for the call whose handler this is.
        RuntimeError: the caller is in the background loop itself, which would wait for
            itself for ever; there, await.
    """
    import asyncio
    from concurrent.futures import CancelledError

    loop = background_loop()
    try:
        current: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
    except RuntimeError:
        current = None
    if current is loop:
        coroutine.close()
        raise RuntimeError("this is the loop that would have to answer: await instead")
    call = CURRENT_CALL.get(None)
    if call is not None and call.cancelled:
        coroutine.close()
        raise CancelledError
    token = None if current is None else _waiting.set(current)
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        with nullcontext() if call is None else call.awaiting(future):
            return future.result()
    except CancelledError:
        raise
    except BaseException:
        if future.cancel():
            from .given_up import until_ended

            ending = until_ended(_PATIENCE_SECONDS)
            asyncio.run_coroutine_threadsafe(ending, loop).result()
        raise
    finally:
        if token is not None:
            _waiting.reset(token)


def is_kept_waiting(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether a loop's own thread waits in `run_sync` for what is running here."""
    return _waiting.get() is loop


def sync(
    function: Callable[_Given, Coroutine[Any, Any, _Result]],
) -> Callable[_Given, _Result]:
    """The wrapper of an async function for callers without an event loop."""

    @wraps(function)
    def wrapper(*given: _Given.args, **named: _Given.kwargs) -> _Result:
        return run_sync(function(*given, **named))

    # It is not what it wraps: tools that look through must not await it.
    del wrapper.__dict__["__wrapped__"]
    wrapper.__name__ = f"{function.__name__}_sync"
    return wrapper


def background_loop() -> asyncio.AbstractEventLoop:
    """The loop, which runs."""
    import asyncio

    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(
                target=_loop.run_forever, name="tool calls", daemon=True
            ).start()
        return _loop


def _forget() -> None:
    """A forked child has the loop, and not the thread that runs it."""
    global _loop, _lock
    _loop, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
