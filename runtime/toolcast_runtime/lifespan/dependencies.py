"""Run lifespan functions and provide their dependencies to handlers.

Each run is entered and exited by one task or, for a sync context manager, by one thread. A
context manager entered in a task must be exited in the same task, because cancel scopes belong
to the task. A sync one has its own thread for the same reason: for example, an SQLite
connection belongs to the thread that opened it.
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
"""How long a lifespan function may take to start."""

STOP_TIMEOUT_S = 4.0
"""How long a lifespan function may take to stop; less than the timeout of a server's shutdown."""

_CANCEL_TIMEOUT_S = 0.5
"""How long to wait for a cancelled task of a lifespan function."""

_lock = threading.Lock()
_runs: dict[tuple[str, str | None], Run] = {}


class Run:
    """Run of a lifespan function, shared by all toolsets that use the function.

    Args:
        package: the package that must define the function; None for any.
        toolset: the name of the toolset that starts the run, for messages.
        loop: the event loop in which the function runs and its dependencies are used.

    Attributes:
        started: resolves to the dependencies by name, or fails with a `LifespanError`.
        done: resolves when the run has ended.
        toolset_count: how many toolsets use the run.
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
        """Whether the run is starting or running; False in a forked child of its process."""
        return _runs.get(self._key) is self

    def start(self) -> None:
        """Start the run in its loop without waiting; `started` resolves later."""

        def create_task() -> None:
            # The task gets an empty context: context variables of the first call, such as its
            # caller, must not apply to dependencies that all later calls share.
            self._task = self.loop.create_task(
                self._run(), name=self._name, context=contextvars.Context()
            )

        self.loop.call_soon_threadsafe(create_task)

    async def wait_for_dependencies(self) -> Mapping[str, Any]:
        """Wait for the start; return the dependencies by name.

        Cancelling the caller does not cancel the start.

        Raises:
            LifespanError: the start failed.
        """
        if self.started.done():
            return self.started.result()
        return await asyncio.shield(asyncio.wrap_future(self.started))

    def release(self) -> bool:
        """Remove one toolset from the run; return whether the caller must stop the run.

        True if this was the last toolset; from then on no toolset can join the run. False
        also if the run has already ended.
        """
        with _lock:
            if not self.is_alive:
                return False
            self.toolset_count -= 1
            if self.toolset_count:
                return False
            del _runs[self._key]
            return True

    async def stop(self) -> None:
        """Stop the run and wait for its end; after `STOP_TIMEOUT_S` log and cancel it."""
        self._request_stop()
        ended = asyncio.shield(asyncio.wrap_future(self.done))
        if not (await asyncio.wait({ended}, timeout=STOP_TIMEOUT_S))[0]:
            self._cancel_task()
            await asyncio.wait({ended}, timeout=_CANCEL_TIMEOUT_S)

    def stop_sync(self) -> None:
        """Stop the run like `stop`, from a thread without an event loop.

        Does nothing if the run's loop is not running.
        """
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
        """Wake the task if its async function has started; otherwise cancel it."""
        if self._wake_event is not None:
            self._wake_event.set()
        elif self._task is not None:
            self._task.cancel()

    def _cancel_task(self) -> None:
        _logger.error("%s did not end within %g seconds", self._name, STOP_TIMEOUT_S)
        if self._task is not None:
            self._call_in_loop(self._task.cancel)

    async def _run(self) -> None:
        # Use a timer thread, because a start that blocks the event loop would also delay a
        # timeout in that loop.
        start_timer = threading.Timer(START_TIMEOUT_S, self._log_late_start)
        start_timer.daemon = True
        start_timer.start()
        try:
            manager = self._create_manager()
            if hasattr(type(manager), "__aenter__"):
                await self._run_in_task(manager)
            else:
                await self._run_in_thread(manager)
        except asyncio.CancelledError:
            self._set_failed("it was stopped before it had started")
            raise
        except LifespanError as error:
            self._set_failed(str(error))
        # Any other error, even SystemExit, must resolve `started`: callers wait for it.
        except BaseException as error:
            if self.started.done():
                activity = "stopping" if self._stopped.is_set() else "running"
                _logger.exception("%s failed while %s", self._name, activity)
            else:
                self._set_failed(_format_cause(error, self._package), error)
        finally:
            start_timer.cancel()
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
        has_started, has_ended = asyncio.Event(), asyncio.Event()
        failures: list[BaseException] = []

        def run() -> None:
            try:
                with manager as value:
                    self._set_started(value)
                    self._call_in_loop(has_started.set)
                    self._stopped.wait()
            except BaseException as error:
                failures.append(error)
            # Set in every case: a failed start must not leave the coroutine waiting.
            self._call_in_loop(has_started.set)
            self._call_in_loop(has_ended.set)

        threading.Thread(target=run, name=self._name, daemon=True).start()
        try:
            async with _limit_start_time():
                await has_started.wait()
            await has_ended.wait()
        finally:
            self._stopped.set()
            if self.started.done():
                # The thread cannot be killed, so wait only as long as `stop` does.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(has_ended.wait(), STOP_TIMEOUT_S)
        if failures:
            raise failures[0]

    def _create_manager(self) -> Any:
        manager = load_function(self._lifespan.function, self._package)()
        if hasattr(type(manager), "__aenter__") or hasattr(type(manager), "__enter__"):
            return manager
        # An async function returns a coroutine: close it, so that Python does not warn that it
        # was never awaited.
        if inspect.iscoroutine(manager):
            manager.close()
        hint = ""
        if inspect.isasyncgen(manager):
            hint = "; decorate it with `@contextlib.asynccontextmanager`"
        elif inspect.isgenerator(manager):
            hint = "; decorate it with `@contextlib.contextmanager`"
        type_name = type(manager).__name__
        raise LifespanError(
            f"the function must return a context manager, not `{type_name}`{hint}"
        )

    def _set_started(self, value: Any) -> None:
        dependencies = _validate_dependencies(value, self._lifespan.dependencies)
        # After a timeout, `started` has already failed; the run is then stopped immediately.
        with contextlib.suppress(InvalidStateError):
            self.started.set_result(dependencies)

    def _set_failed(self, reason: str, error: BaseException | None = None) -> None:
        if self.started.done():
            return
        _unregister(self)
        failure = LifespanError(f"{self._name} failed to start: {reason}")
        failure.__cause__ = error
        self.started.set_exception(failure)

    def _call_in_loop(self, function: Callable[[], object]) -> None:
        """Call a function in the loop; do nothing if the loop is closed."""
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(function)

    def _log_late_start(self) -> None:
        """Log that the start exceeds its timeout, unless it has ended. Runs in a timer thread."""
        if not self.started.done():
            _logger.error("%s: %s", self._name, _format_late_start())


def join_run(
    lifespan: Lifespan,
    package: str | None,
    toolset: str,
    loop: asyncio.AbstractEventLoop,
) -> Run:
    """Add a toolset to the process's run of a lifespan function; return the run.

    If there is no run, start one in `loop` without waiting. Toolsets with the same function
    share its run and its dependencies.
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
    """Return the mapping of dependencies that a lifespan function yielded; empty for None.

    Raises:
        LifespanError: the value is not a mapping, or its keys are not the declared names.
    """
    dependencies: Any = {} if value is None else value
    if not isinstance(dependencies, Mapping):
        type_name = type(value).__name__
        raise LifespanError(
            f"it yields `{type_name}`, but must yield a mapping with its dependencies"
        )
    missing = [name for name in names if name not in dependencies]
    extra = [f"{name}" for name in dependencies if name not in names]
    problems = []
    if missing:
        problems.append(f"it does not yield {_format_names(missing)}")
    if extra:
        problems.append(
            f"it yields {_format_names(extra)}, which `dependencies` of toolset.yaml does"
            " not declare"
        )
    if problems:
        raise LifespanError("; ".join(problems))
    return dependencies


def _format_names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _format_late_start() -> str:
    return f"it has not started within {START_TIMEOUT_S:g} seconds"


@contextlib.asynccontextmanager
async def _limit_start_time() -> AsyncIterator[None]:
    """Cancel the block after `START_TIMEOUT_S` and raise `LifespanError`.

    A `TimeoutError` of the lifespan function itself is raised unchanged.
    """
    try:
        async with asyncio.timeout(START_TIMEOUT_S) as limit:
            yield
    except TimeoutError:
        if limit.expired():
            raise LifespanError(_format_late_start()) from None
        raise


def _format_cause(error: BaseException, package: str | None) -> str:
    """Format an exception, with the innermost line of its traceback inside a package."""
    text = "".join(traceback.format_exception_only(error)).strip()
    location = ""
    trace = error.__traceback__
    while trace is not None:
        if is_in_package(trace.tb_frame.f_globals.get("__name__", ""), package):
            code = trace.tb_frame.f_code
            location = f" ({code.co_filename}:{trace.tb_lineno}, in {code.co_name})"
        trace = trace.tb_next
    return text + location


def _unregister(run: Run) -> None:
    with _lock:
        if run.is_alive:
            del _runs[run._key]


def _stop_all_runs() -> None:
    """Stop the runs that are still alive when the process exits."""
    for run in list(_runs.values()):
        run.stop_sync()


def _reset_after_fork() -> None:
    """Forget all runs in a forked child, which must not stop its parent's dependencies.

    The lock is replaced, because another thread of the parent may have held it.
    """
    global _lock
    _lock = threading.Lock()
    _runs.clear()


atexit.register(_stop_all_runs)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


class Dependencies:
    """Dependencies of a toolset's handlers.

    Args:
        lifespan: the lifespan that provides them.
        package: the package that must define the lifespan's function; None for any.

    Attributes:
        has_ended: set when the lifespan was entered and left; calls do not start it again.
        is_disabled: the lifespan is never started; only replaced dependencies exist.
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
        """The lifespan function, as `module:function`."""
        return self._lifespan.function

    @property
    def is_up(self) -> bool:
        """Whether the lifespan has started, or all its dependencies are replaced."""
        run = self._run
        if run is not None and run.is_alive and run.started.done():
            return run.started.exception() is None
        return self._is_fully_replaced()

    async def enter(self) -> None:
        """Start the lifespan in the current loop, unless it runs or is fully replaced.

        Raises:
            LifespanError: the start failed.
        """
        self.has_ended = False
        if self._is_fully_replaced():
            return
        await self._join_run(asyncio.get_running_loop()).wait_for_dependencies()

    async def leave(self) -> None:
        """Stop the lifespan, unless another toolset still uses it."""
        with self._lock:
            run, self._run = self._run, None
        if run is not None and run.release():
            await run.stop()

    async def resolve(
        self, names: Sequence[str]
    ) -> tuple[Mapping[str, Any], asyncio.AbstractEventLoop | None]:
        """Return dependencies by name, and the loop to use them in; None for any loop.

        The first call starts the lifespan if it was not entered. It then runs in the
        background loop, which continues after the caller's loop has ended.

        Raises:
            LifespanError: the dependencies are not available.
        """
        replacements = self._replacements
        if all(name in replacements for name in names):
            return {name: replacements[name] for name in names}, None
        if self.is_disabled:
            raise LifespanError(f"the lifespan of `{self._toolset}` is disabled")
        if self.has_ended:
            raise LifespanError(
                f"the lifespan of `{self._toolset}` has ended; start it again with"
                " `async with REGISTRY`"
            )
        run = self._join_run(get_background_loop())
        if is_blocked_by_run_sync(run.loop):
            raise LifespanError(
                f"the lifespan of `{self._toolset}` runs in the event loop that this sync"
                " call blocks; await the call in that loop instead"
            )
        dependencies = {**await run.wait_for_dependencies(), **replacements}
        if not run.loop.is_running():
            raise LifespanError(
                f"the lifespan of `{self._toolset}` was started in an event loop that is no"
                " longer running"
            )
        return {name: dependencies[name] for name in names}, run.loop

    @contextlib.contextmanager
    def override(self, dependencies: Mapping[str, Any]) -> Iterator[None]:
        """Replace dependencies within the block, for example in tests.

        Afterwards the previous replacements apply again.

        Raises:
            LookupError: the toolset does not declare one of the dependencies.
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
