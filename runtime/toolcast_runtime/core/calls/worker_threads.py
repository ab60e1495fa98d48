"""Threads and event loops for calls, and the limits on calls that continue after a timeout.

Each call of a plain function runs in a worker thread of its own, up to a maximum; further calls
wait some seconds for a free thread. Threads are reused, because starting a thread takes longer
than many handlers. They are daemons: unlike the threads of asyncio's executors and of anyio, a
handler that hangs blocks neither other calls nor the end of the process.

Callers without an event loop share one background loop, which runs in a daemon thread until the
process ends. Connections that belong to a loop but are used from several also live in it.

A handler that is called off may continue: a coroutine can ignore its cancellation, and a thread
cannot be stopped. Such abandoned calls are counted, logged and limited. Otherwise the abandoned
calls of one hanging tool would use up the threads that all tools share.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from ..context import CURRENT_CALL, ToolError

if TYPE_CHECKING:
    import asyncio

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

MAX_THREADS = 64
"""Maximum number of worker threads of one event loop, including those of abandoned calls."""

MAX_ABANDONED_CALLS = 16
"""Number of running abandoned calls of one tool from which its further calls are refused."""

Outcome = tuple[Any, BaseException | None]
"""The value that a function returned, and the exception that it raised."""

_THREAD_TIMEOUT_S = 5.0
"""How long a call waits for a free thread before it fails."""
_INTERRUPT_TIMEOUT_S = 2.0
"""How long an interrupted `run_sync` waits for its handlers to end."""
_ABANDONED_LOG_DELAY_S = 10.0
"""How long an abandoned call may run before it is logged."""
_POLL_INTERVAL_S = 0.02
"""Interval at which abandoned calls are polled."""

_Jobs = SimpleQueue[tuple[str, Callable[["_Jobs"], None]]]
"""Queue of one worker thread's jobs, each a thread name with a function."""

# Job queues of idle threads, used as a stack. A forked child clears the list, because threads
# do not survive a fork.
_idle: list[_Jobs] = []
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
    WeakKeyDictionary()
)

# Number of abandoned calls that still run, by event loop and tool name.
_abandoned: WeakKeyDictionary[asyncio.AbstractEventLoop, Counter[str]] = (
    WeakKeyDictionary()
)
# References to abandoned tasks: an event loop has only weak references to its tasks, so they
# could be garbage-collected before they end.
_tasks: set[asyncio.Task[Any]] = set()

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_blocked_loop: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar(
    "blocked_loop", default=None
)


async def run_in_thread(work: Callable[[], Any], name: str = "tool call") -> Outcome:
    """Run a function in a worker thread, in the current context; return its outcome.

    An exception of the function is part of the outcome and never raised. If no thread becomes
    free within some seconds, the outcome is a ToolError. If the call is cancelled, the
    function continues in its thread.

    Args:
        work: the function.
        name: the tool's name, which also becomes the thread's name.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    slots = _slots.setdefault(loop, asyncio.Semaphore(MAX_THREADS))
    # Start no timer if a slot is free, because a timer takes as long as a small handler.
    timeout = asyncio.timeout(_THREAD_TIMEOUT_S if slots.locked() else None)
    try:
        async with timeout:
            await slots.acquire()
    except TimeoutError:
        return None, ToolError(
            f"the server is busy with {MAX_THREADS} calls; try again later"
        )
    future: asyncio.Future[Outcome] = loop.create_future()
    context = contextvars.copy_context()
    has_ended, untrack = False, None

    def finish(outcome: Outcome) -> None:
        nonlocal has_ended
        has_ended = True
        slots.release()
        if untrack is not None:
            untrack()
        if not future.done():
            future.set_result(outcome)

    def run(jobs: _Jobs) -> None:
        try:
            outcome: Outcome = context.run(work), None
        except BaseException as error:
            outcome = None, error
        # Mark the thread as idle before its slot is released. Otherwise the next call would
        # start a new thread, and threads could exceed slots.
        _idle.append(jobs)
        # `call_soon_threadsafe` raises RuntimeError if the loop was closed in the meantime.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(finish, outcome)

    _start_job(name, run)
    try:
        return await future
    except asyncio.CancelledError:
        if not has_ended:
            untrack = track_abandoned(name)
        raise


def _start_job(name: str, run: Callable[[_Jobs], None]) -> None:
    """Run a job in an idle thread, or in a new one."""
    try:
        jobs = _idle.pop()
    except IndexError:
        jobs = SimpleQueue()
        thread = threading.Thread(target=_run_jobs, args=(jobs,), daemon=True)
        thread.start()
    jobs.put((name, run))


def _run_jobs(jobs: _Jobs) -> None:
    thread = threading.current_thread()
    while True:
        thread.name, run = jobs.get()
        run(jobs)
        # An idle thread must not keep the objects of its last call alive.
        del run


def has_max_abandoned_calls(name: str) -> bool:
    """Return whether too many abandoned calls of a tool still run in this event loop."""
    if not _abandoned:
        return False
    import asyncio

    abandoned = _abandoned.get(asyncio.get_running_loop())
    return abandoned is not None and abandoned[name] >= MAX_ABANDONED_CALLS


def track_abandoned(name: str) -> Callable[[], None]:
    """Count an abandoned call of a tool; return a function that undoes the count.

    If the call still runs after some seconds, a warning is logged.

    Call the returned function in the same event loop when the call ends.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    abandoned = _abandoned.setdefault(loop, Counter())
    abandoned[name] += 1
    timer = loop.call_later(_ABANDONED_LOG_DELAY_S, _log_abandoned, name, abandoned)

    def untrack() -> None:
        timer.cancel()
        abandoned[name] -= 1
        if not abandoned[name]:
            del abandoned[name]
            if not abandoned:
                _abandoned.pop(loop, None)

    return untrack


def abandon_task(name: str, task: asyncio.Task[Any]) -> None:
    """Cancel the task of a call, and count it as abandoned until it ends."""
    task.cancel()
    _tasks.add(task)
    untrack = track_abandoned(name)

    def finish(task: asyncio.Task[Any]) -> None:
        _tasks.discard(task)
        untrack()
        if not task.cancelled():
            # Retrieve the exception, because asyncio logs exceptions that are never retrieved.
            task.exception()

    task.add_done_callback(finish)


async def wait_for_abandoned(seconds: float) -> None:
    """Wait until no abandoned call runs in this loop, for at most `seconds`."""
    import asyncio

    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    # Let the loop run once: a task that was just cancelled is counted only when it has run.
    await asyncio.sleep(_POLL_INTERVAL_S)
    while _abandoned.get(loop) and loop.time() < deadline:
        await asyncio.sleep(_POLL_INTERVAL_S)


def _log_abandoned(name: str, abandoned: Counter[str]) -> None:
    import logging

    logging.getLogger("toolcast").warning(
        "a handler of %s still runs %g s after its call was given up; %d of its abandoned"
        " calls run, and from %d on its further calls are refused",
        name,
        _ABANDONED_LOG_DELAY_S,
        abandoned[name],
        MAX_ABANDONED_CALLS,
    )


async def run_in_background(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Await a coroutine in the background loop; cancellation is passed on to it."""
    return await run_in_loop(get_background_loop(), coroutine)


async def run_in_loop(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, _Result]
) -> _Result:
    """Await a coroutine in a running event loop; cancellation is passed on to it."""
    import asyncio

    if asyncio.get_running_loop() is loop:
        return await coroutine
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))


def run_sync(coroutine: Coroutine[Any, Any, _Result]) -> _Result:
    """Run a coroutine in the background loop, in the caller's context; return its result.

    The calling thread blocks, even if it runs an event loop itself. If the wait is
    interrupted, for example by Ctrl-C, the coroutine is cancelled and the handlers that it
    called have a moment to end. If this runs in a handler whose call is cancelled, the
    coroutine is cancelled as well.

    Raises:
        CancelledError: the call whose handler this runs in is cancelled.
        RuntimeError: the caller runs in the background loop itself, where blocking would
            never end. Await the coroutine instead.
    """
    import asyncio
    from concurrent.futures import CancelledError

    loop = get_background_loop()
    try:
        current: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
    except RuntimeError:
        current = None
    if current is loop:
        coroutine.close()
        raise RuntimeError(
            "a `_sync` function would block the event loop that it needs: await the async"
            " function instead"
        )
    call = CURRENT_CALL.get(None)
    if call is not None and call.cancelled:
        coroutine.close()
        raise CancelledError
    token = None if current is None else _blocked_loop.set(current)
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        with contextlib.nullcontext() if call is None else call.track_future(future):
            return future.result()
    except CancelledError:
        raise
    except BaseException:
        if future.cancel():
            waiting = wait_for_abandoned(_INTERRUPT_TIMEOUT_S)
            asyncio.run_coroutine_threadsafe(waiting, loop).result()
        raise
    finally:
        if token is not None:
            _blocked_loop.reset(token)


def is_blocked_by_run_sync(loop: asyncio.AbstractEventLoop) -> bool:
    """Return whether a loop's thread is blocked in the `run_sync` that runs the current code."""
    return _blocked_loop.get() is loop


def make_sync(
    function: Callable[_Parameters, Coroutine[Any, Any, _Result]],
) -> Callable[_Parameters, _Result]:
    """Wrap an async function for callers without an event loop."""

    @wraps(function)
    def wrapper(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        return run_sync(function(*args, **kwargs))

    # Remove `__wrapped__`: `inspect` follows it and would report the wrapper as async.
    del wrapper.__dict__["__wrapped__"]
    wrapper.__name__ = f"{function.__name__}_sync"
    return wrapper


def get_background_loop() -> asyncio.AbstractEventLoop:
    """Return the running background loop; start it on first use."""
    import asyncio

    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(
                target=_loop.run_forever, name="tool calls", daemon=True
            ).start()
        return _loop


def _reset_after_fork() -> None:
    """Forget the loop and the idle threads: a forked child has none of the threads."""
    global _loop, _lock
    _loop, _lock = None, threading.Lock()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
