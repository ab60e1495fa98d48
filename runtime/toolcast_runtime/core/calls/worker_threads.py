"""Where the work of calls runs: threads, the loop of callers without one, and what runs on.

Each call of a plain function has a thread to itself, up to a number; beyond that it waits a while
for its turn. A thread whose call has ended takes the next one: to start one takes longer than many
a handler. The threads are daemons: one that hangs keeps neither another call from running nor the
process from ending, as the threads of asyncio's executors and of anyio would.

Callers without an event loop share one in a thread of its own, as do connections that belong to a
loop and are used from any. It is a daemon, too, and runs until the process ends.

An async handler may go on after it was cancelled, and a thread cannot be stopped. Such calls are
counted, logged and bounded: without that, those of a tool that hangs would use up what all share.
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

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

MAX_THREADS = 64
"""Worker threads of one event loop, including blocked ones."""

MAX_ABANDONED_CALLS = 16
"""Abandoned calls of one tool that still run, before its further calls are rejected."""

Outcome = tuple[Any, BaseException | None]
"""What a function gave, and what it raised."""

_SECONDS_FOR_A_THREAD = 5.0
_SECONDS_WHEN_INTERRUPTED = 2.0
"""How long a handler may take to end when whoever waits for it is interrupted."""
_SECONDS_UNTOLD = 10.0
"""How long a handler may take to end before the log is told."""
_LOOK_SECONDS = 0.02

_Calls = SimpleQueue[tuple[str, Callable[["_Calls"], None]]]
"""What a thread is to run next, with its name."""

# Of threads that wait; the last to come goes first. A forked child has none of them.
_waiting: list[_Calls] = []
_places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
    WeakKeyDictionary()
)

_running: WeakKeyDictionary[asyncio.AbstractEventLoop, Counter[str]] = (
    WeakKeyDictionary()
)
# The loop itself keeps no task alive.
_tasks: set[asyncio.Task[Any]] = set()

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_loop_that_waits: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar(
    "loop_that_waits", default=None
)


async def in_thread(work: Callable[[], Any], name: str = "tool call") -> Outcome:
    """Runs a function in the present context; it never raises what the function raises.

    When the most threads are running already and none ends in a few seconds, the outcome is
    an error that says so. A thread whose call is given up runs on.

    Args:
        work: the function.
        name: the tool's, which the thread is called by, too.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    places = _places.setdefault(loop, asyncio.Semaphore(MAX_THREADS))
    # Most calls wait for no place, and each timer costs as much as a small handler.
    limit = asyncio.timeout(_SECONDS_FOR_A_THREAD if places.locked() else None)
    try:
        async with limit:
            await places.acquire()
    except TimeoutError:
        return None, ToolError(
            f"the server is busy with {MAX_THREADS} calls; try again later"
        )
    future: asyncio.Future[Outcome] = loop.create_future()
    context = contextvars.copy_context()
    is_over, ended = False, None

    def finish(outcome: Outcome) -> None:
        nonlocal is_over
        is_over = True
        places.release()
        if ended is not None:
            ended()
        if not future.done():
            future.set_result(outcome)

    def run(calls: _Calls) -> None:
        try:
            outcome: Outcome = context.run(work), None
        except BaseException as error:
            outcome = None, error
        # Before its place is given on, so that there are never more threads than places.
        _waiting.append(calls)
        # The loop may have ended while the function ran on.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(finish, outcome)

    _in_free_thread(name, run)
    try:
        return await future
    except asyncio.CancelledError:
        if not is_over:
            ended = runs_on(name)
        raise


def _in_free_thread(name: str, run: Callable[[_Calls], None]) -> None:
    try:
        calls = _waiting.pop()
    except IndexError:
        calls = SimpleQueue()
        thread = threading.Thread(target=_take_calls, args=(calls,), daemon=True)
        thread.start()
    calls.put((name, run))


def _take_calls(calls: _Calls) -> None:
    thread = threading.current_thread()
    while True:
        thread.name, run = calls.get()
        run(calls)
        # Nothing of a call is kept while the thread waits.
        del run


def is_stuck(name: str) -> bool:
    """Whether too many calls of a tool run on in this loop."""
    if not _running:
        return False
    import asyncio

    running = _running.get(asyncio.get_running_loop())
    return running is not None and running[name] >= MAX_ABANDONED_CALLS


def runs_on(name: str) -> Callable[[], None]:
    """Takes note of a call of a tool; what it gives is called, in the loop, at its end."""
    import asyncio

    loop = asyncio.get_running_loop()
    running = _running.setdefault(loop, Counter())
    running[name] += 1
    timer = loop.call_later(_SECONDS_UNTOLD, _tell, name, running)

    def ended() -> None:
        timer.cancel()
        running[name] -= 1
        if not running[name]:
            del running[name]
            if not running:
                _running.pop(loop, None)

    return ended


def give_up(name: str, task: asyncio.Task[Any]) -> None:
    """Cancels the work of a call, and takes note of it until it has ended."""
    task.cancel()
    _tasks.add(task)
    ended = runs_on(name)

    def done(task: asyncio.Task[Any]) -> None:
        _tasks.discard(task)
        ended()
        if not task.cancelled():
            task.exception()  # nobody waits for it

    task.add_done_callback(done)


async def until_ended(seconds: float) -> None:
    """Returns when nothing runs on in this loop, or the time is over."""
    import asyncio

    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    # What was cancelled a moment ago takes note of it when it has its turn.
    await asyncio.sleep(_LOOK_SECONDS)
    while _running.get(loop) and loop.time() < deadline:
        await asyncio.sleep(_LOOK_SECONDS)


def _tell(name: str, running: Counter[str]) -> None:
    import logging

    logging.getLogger("toolcast").warning(
        "a handler of %s still runs %g s after its call was given up; %d of its calls do,"
        " and at %d further ones are refused",
        name,
        _SECONDS_UNTOLD,
        running[name],
        MAX_ABANDONED_CALLS,
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
    token = None if current is None else _loop_that_waits.set(current)
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    try:
        with contextlib.nullcontext() if call is None else call.awaiting(future):
            return future.result()
    except CancelledError:
        raise
    except BaseException:
        if future.cancel():
            ending = until_ended(_SECONDS_WHEN_INTERRUPTED)
            asyncio.run_coroutine_threadsafe(ending, loop).result()
        raise
    finally:
        if token is not None:
            _loop_that_waits.reset(token)


def is_kept_waiting(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether a loop's own thread waits in `run_sync` for what is running here."""
    return _loop_that_waits.get() is loop


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
    """A forked child has the loop and the threads that wait, and nothing that runs them."""
    global _loop, _lock
    _loop, _lock = None, threading.Lock()
    _waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
