"""The dependencies of a registry, and the run of the lifespan's function that gives them.

A run is entered and ended by one task, or by one thread. What is entered in a task has to be left
in that task, because cancel scopes belong to it; so neither a server's callers nor whoever ends it
touch the context manager. A sync one has a thread for the same reason: connections of SQLite
belong to the thread that made them.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import inspect
import logging
import os
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from difflib import get_close_matches
from typing import Any

from ..core.calls.handlers import load_function
from ..core.calls.worker_threads import get_background_loop, is_blocked_by_run_sync
from ..core.definitions.definitions import is_in_package
from ..core.toolset_settings import Lifespan, LifespanError

_logger = logging.getLogger("toolcast")

START_TIMEOUT_S = 60.0
"""How long a start may take."""

STOP_TIMEOUT_S = 4.0
"""How long an end may take: less than servers have for all that they close."""

_CANCEL_TIMEOUT_S = 0.5

_lock = threading.Lock()
_runs: dict[tuple[str, str | None], Run] = {}


class Run:
    """One run of a lifespan's function.

    Args:
        lifespan: what is run.
        package: the package that has to define the function.
        toolset: whose it is, for what is said of it.
        loop: where it is run, and what it gives is used.

    Attributes:
        loop: where it is run.
        started: what it gives by name, or a `LifespanError`.
        done: it is over.
        holders: how many toolsets use it.
    """

    def __init__(
        self,
        lifespan: Lifespan,
        package: str | None,
        toolset: str,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.loop = loop
        self.started: Future[Mapping[str, Any]] = Future()
        self.done: Future[None] = Future()
        self.toolset_count = 0
        self._lifespan = lifespan
        self._package = package
        self._key = lifespan.function, package
        self._name = f"the lifespan of `{toolset}` ({lifespan.function})"
        self._stopped = threading.Event()
        self._wake_event: asyncio.Event | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_alive(self) -> bool:
        """Whether it starts or runs, in this process and not in one that it is forked from."""
        return _runs.get(self._key) is self

    def start(self) -> None:
        """Starts it in its loop; `started` tells when it has."""

        def begin() -> None:
            # Of nobody's call: what holds for a caller must not hold for all that follow.
            self._task = self.loop.create_task(
                self._run(), name=self._name, context=contextvars.Context()
            )

        self.loop.call_soon_threadsafe(begin)

    async def wait_for_dependencies(self) -> Mapping[str, Any]:
        """What it gives. A caller that is cancelled does not cancel the start.

        Raises:
            LifespanError: it cannot be started.
        """
        if self.started.done():
            return self.started.result()
        return await asyncio.shield(asyncio.wrap_future(self.started))

    def release(self) -> bool:
        """Whether nobody holds it any more, so that it has to be ended; nobody joins it then."""
        with _lock:
            if not self.is_alive:
                return False
            self.toolset_count -= 1
            if self.toolset_count:
                return False
            del _runs[self._key]
            return True

    async def stop(self) -> None:
        """Ends it, and returns when it is over, or has taken too long."""
        self._request_stop()
        over = asyncio.shield(asyncio.wrap_future(self.done))
        if not (await asyncio.wait({over}, timeout=STOP_TIMEOUT_S))[0]:
            self._cancel_task()
            await asyncio.wait({over}, timeout=_CANCEL_TIMEOUT_S)

    def stop_sync(self) -> None:
        """The same for a thread without a loop."""
        if self.loop.is_running():
            self._request_stop()
            try:
                self.done.result(STOP_TIMEOUT_S)
            except TimeoutError:
                self._cancel_task()

    def _request_stop(self) -> None:
        _unregister(self)
        self._stopped.set()
        self._call_in_loop(self._wake_task)

    def _wake_task(self) -> None:
        if self._wake_event is not None:
            self._wake_event.set()
        elif self._task is not None:
            self._task.cancel()

    def _cancel_task(self) -> None:
        _logger.error("%s did not end within %g seconds", self._name, STOP_TIMEOUT_S)
        if self._task is not None:
            self._call_in_loop(self._task.cancel)

    async def _run(self) -> None:
        late = threading.Timer(START_TIMEOUT_S, self._log_late_start)
        late.daemon = True
        late.start()
        try:
            manager = self._create_manager()
            if hasattr(type(manager), "__aenter__"):
                await self._run_in_task(manager)
            else:
                await self._run_in_thread(manager)
        except asyncio.CancelledError:
            self._set_failed("was ended before it had started")
            raise
        except LifespanError as error:
            self._set_failed(str(error))
        except BaseException as error:
            if self.started.done():
                is_asked = self._stopped.is_set()
                what = "failed while it ended" if is_asked else "broke while it ran"
                _logger.exception("%s %s", self._name, what)
            else:
                self._set_failed(_format_cause(error, self._package), error)
        finally:
            late.cancel()
            _unregister(self)
            self.done.set_result(None)

    async def _run_in_task(self, manager: Any) -> None:
        wake = asyncio.Event()
        async with _limit_start_time():
            value = await manager.__aenter__()
        try:
            self._set_started(value)
            self._wake_event = wake
            await wake.wait()
        finally:
            await manager.__aexit__(None, None, None)

    async def _run_in_thread(self, manager: Any) -> None:
        begun, over = asyncio.Event(), asyncio.Event()
        failures: list[BaseException] = []

        def run() -> None:
            try:
                with manager as value:
                    self._set_started(value)
                    self._call_in_loop(begun.set)
                    self._stopped.wait()
            except BaseException as error:
                failures.append(error)
            self._call_in_loop(begun.set)
            self._call_in_loop(over.set)

        threading.Thread(target=run, name=self._name, daemon=True).start()
        try:
            async with _limit_start_time():
                await begun.wait()
            await over.wait()
        finally:
            self._stopped.set()
            if self.started.done():
                # What ends this waits no longer than that, too.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(over.wait(), STOP_TIMEOUT_S)
        if failures:
            raise failures[0]

    def _create_manager(self) -> Any:
        manager = load_function(self._lifespan.function, self._package)()
        if hasattr(type(manager), "__aenter__") or hasattr(type(manager), "__enter__"):
            return manager
        if inspect.iscoroutine(manager):
            manager.close()
        help_ = ""
        if inspect.isasyncgen(manager):
            help_ = ": write @contextlib.asynccontextmanager above it"
        elif inspect.isgenerator(manager):
            help_ = ": write @contextlib.contextmanager above it"
        kind = type(manager).__name__
        raise LifespanError(f"it gives no context manager, but `{kind}`{help_}")

    def _set_started(self, value: Any) -> None:
        given = _validate_dependencies(value, self._lifespan.dependencies)
        # What begins after its time is ended at once.
        with contextlib.suppress(InvalidStateError):
            self.started.set_result(given)

    def _set_failed(self, why: str, error: BaseException | None = None) -> None:
        if self.started.done():
            return
        _unregister(self)
        failure = LifespanError(f"{self._name} failed at its start: {why}")
        failure.__cause__ = error
        self.started.set_exception(failure)

    def _call_in_loop(self, what: Callable[[], object]) -> None:
        """Runs a function in the loop, unless that was closed, which has cancelled the task."""
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(what)

    def _log_late_start(self) -> None:
        """Also where the start blocks the loop, in which nothing can be said then."""
        if not self.started.done():
            _logger.error("%s: %s", self._name, _format_late_start())


def join_run(
    lifespan: Lifespan,
    package: str | None,
    toolset: str,
    loop: asyncio.AbstractEventLoop,
) -> Run:
    """The run of a lifespan's function in this process, begun in a loop if there is none.

    Toolsets that name one function share what it gives.
    """
    with _lock:
        key = lifespan.function, package
        run = _runs.get(key)
        if run is None:
            run = _runs[key] = Run(lifespan, package, toolset, loop)
            run.start()
        run.toolset_count += 1
        return run


def _validate_dependencies(value: Any, names: tuple[str, ...]) -> Mapping[str, Any]:
    """What a lifespan has yielded, which has to be what its toolset declares.

    Raises:
        LifespanError: it is not.
    """
    given: Any = {} if value is None else value
    if not isinstance(given, Mapping):
        kind = type(value).__name__
        raise LifespanError(
            f"it yields `{kind}`, and not a mapping of its dependencies"
        )
    missing = [name for name in names if name not in given]
    extra = [f"{name}" for name in given if name not in names]
    problems = []
    if missing:
        problems.append(f"it does not yield {_format_names(missing)}")
    if extra:
        declared = "which `dependencies` of toolset.yaml does not have"
        problems.append(f"it yields {_format_names(extra)}, {declared}")
    if problems:
        raise LifespanError("; ".join(problems))
    return given


def _format_names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _format_late_start() -> str:
    return f"it has not started within {START_TIMEOUT_S:g} seconds"


@contextlib.asynccontextmanager
async def _limit_start_time() -> AsyncIterator[None]:
    """Bounds a start; a time-out of the function's own is told as such."""
    try:
        async with asyncio.timeout(START_TIMEOUT_S) as limit:
            yield
    except TimeoutError:
        if limit.expired():
            raise LifespanError(_format_late_start()) from None
        raise


def _format_cause(error: BaseException, package: str | None) -> str:
    """An exception in one line, with the place in the team's code that it comes from."""
    text = "".join(traceback.format_exception_only(error)).strip()
    place = ""
    trace = error.__traceback__
    while trace is not None:
        if is_in_package(trace.tb_frame.f_globals.get("__name__", ""), package):
            code = trace.tb_frame.f_code
            place = f" ({code.co_filename}:{trace.tb_lineno}, in {code.co_name})"
        trace = trace.tb_next
    return text + place


def _unregister(run: Run) -> None:
    with _lock:
        if run.is_alive:
            del _runs[run._key]


def _stop_all_runs() -> None:
    """What nobody has ended until the process does."""
    for run in list(_runs.values()):
        run.stop_sync()


def _reset_after_fork() -> None:
    """A forked child must not end what its parent goes on using."""
    global _lock
    _lock = threading.Lock()
    _runs.clear()


atexit.register(_stop_all_runs)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


class Dependencies:
    """The dependencies that a toolset's tools use.

    Args:
        lifespan: what opens and closes them.
        package: the package that has to define its function.
        toolset: the toolset's name.

    Attributes:
        is_over: what was entered has ended, and no call starts it again.
        is_left_out: the lifespan is never started: what is not replaced is not there.
    """

    def __init__(self, lifespan: Lifespan, package: str | None, toolset: str) -> None:
        self._lifespan = lifespan
        self._package = package
        self._toolset = toolset
        self._lock = threading.Lock()
        self._replacements: dict[str, Any] = {}
        self._run: Run | None = None
        self.has_ended = False
        self.is_disabled = False

    @property
    def function(self) -> str:
        """The lifespan's function, as `module:function`."""
        return self._lifespan.function

    @property
    def is_up(self) -> bool:
        """Whether what tools use is open, or replaced."""
        run = self._run
        if run is not None and run.is_alive and run.started.done():
            return run.started.exception() is None
        return self._is_fully_replaced()

    async def enter(self) -> None:
        """Starts the lifespan in the present loop, unless it runs already.

        Nothing is started while every dependency is replaced.

        Raises:
            LifespanError: it cannot be started.
        """
        self.has_ended = False
        if self._is_fully_replaced():
            return
        await self._join_run(asyncio.get_running_loop()).wait_for_dependencies()

    async def leave(self) -> None:
        """Ends the lifespan, unless another toolset still needs it."""
        with self._lock:
            run, self._run = self._run, None
        if run is not None and run.release():
            await run.stop()

    async def resolve(
        self, names: Sequence[str]
    ) -> tuple[Mapping[str, Any], asyncio.AbstractEventLoop | None]:
        """The named dependencies, and the loop in which they are to be used; None for any.

        The first call starts the lifespan, in the background loop, which outlives its
        caller's.

        Raises:
            LifespanError: they are not there.
        """
        replaced = self._replacements
        left = [name for name in names if name not in replaced]
        if not left:
            return {name: replaced[name] for name in names}, None
        if self.is_disabled:
            raise LifespanError(f"the lifespan of `{self._toolset}` is left out")
        if self.has_ended:
            raise LifespanError(
                f"the lifespan of `{self._toolset}` has ended: `async with REGISTRY` of the"
                " toolset starts it again"
            )
        run = self._join_run(get_background_loop())
        if is_blocked_by_run_sync(run.loop):
            raise LifespanError(
                f"the lifespan of `{self._toolset}` runs in the event loop that waits for"
                " this call: await the call there"
            )
        given = {**await run.wait_for_dependencies(), **replaced}
        if not run.loop.is_running():
            raise LifespanError(
                f"the lifespan of `{self._toolset}` was started in an event loop that does"
                " not run now"
            )
        return {name: given[name] for name in names}, run.loop

    @contextlib.contextmanager
    def replace(self, dependencies: Mapping[str, Any]) -> Iterator[None]:
        """Gives tools these instead of what the lifespan gives.

        Raises:
            LookupError: the toolset has no dependency of a name.
        """
        for name in dependencies:
            if name not in self._lifespan.dependencies:
                near = get_close_matches(name, self._lifespan.dependencies, 1)
                hint = f"; did you mean `{near[0]}`?" if near else ""
                raise LookupError(f"`{self._toolset}` has no dependency `{name}`{hint}")
        before = self._replacements
        self._replacements = {**before, **dependencies}
        try:
            yield
        finally:
            self._replacements = before

    def _is_fully_replaced(self) -> bool:
        names = self._lifespan.dependencies
        return bool(names) and all(name in self._replacements for name in names)

    def _join_run(self, loop: asyncio.AbstractEventLoop) -> Run:
        with self._lock:
            if self._run is None or not self._run.is_alive:
                self._run = join_run(self._lifespan, self._package, self._toolset, loop)
            return self._run
