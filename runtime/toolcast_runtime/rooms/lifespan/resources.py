"""The resources of one registry: who has to have them, and where."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from ...core.calls.work import background_loop, is_kept_waiting
from ...core.toolset_settings import Lifespan, LifespanError
from .run import join_run

if TYPE_CHECKING:
    from .run import Run


class Resources:
    """The resources that a toolset's tools use.

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
        self._replaced: dict[str, Any] = {}
        self._run: Run | None = None
        self.is_over = False
        self.is_left_out = False

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
        return self._is_replaced()

    async def enter(self) -> None:
        """Starts the lifespan in the present loop, unless it runs already.

        Nothing is started while every resource is replaced.

        Raises:
            LifespanError: it cannot be started.
        """
        self.is_over = False
        if self._is_replaced():
            return
        await self._joined(asyncio.get_running_loop()).ready()

    async def leave(self) -> None:
        """Ends the lifespan, unless another toolset still needs it."""
        with self._lock:
            run, self._run = self._run, None
        if run is not None and run.release():
            await run.end()

    async def of(
        self, names: Sequence[str]
    ) -> tuple[Mapping[str, Any], asyncio.AbstractEventLoop | None]:
        """The named resources, and the loop in which they are to be used; None for any.

        The first call starts the lifespan, in the background loop, which outlives its
        caller's.

        Raises:
            LifespanError: they are not there.
        """
        replaced = self._replaced
        left = [name for name in names if name not in replaced]
        if not left:
            return {name: replaced[name] for name in names}, None
        if self.is_left_out:
            raise LifespanError(f"the lifespan of `{self._toolset}` is left out")
        if self.is_over:
            raise LifespanError(
                f"the lifespan of `{self._toolset}` has ended: `async with REGISTRY` of the"
                " toolset starts it again"
            )
        run = self._joined(background_loop())
        if is_kept_waiting(run.loop):
            raise LifespanError(
                f"the lifespan of `{self._toolset}` runs in the event loop that waits for"
                " this call: await the call there"
            )
        given = {**await run.ready(), **replaced}
        if not run.loop.is_running():
            raise LifespanError(
                f"the lifespan of `{self._toolset}` was started in an event loop that does"
                " not run now"
            )
        return {name: given[name] for name in names}, run.loop

    @contextlib.contextmanager
    def replaced(self, resources: Mapping[str, Any]) -> Iterator[None]:
        """Gives tools these instead of what the lifespan gives.

        Raises:
            LookupError: the toolset has no resource of a name.
        """
        for name in resources:
            if name not in self._lifespan.resources:
                near = get_close_matches(name, self._lifespan.resources, 1)
                hint = f"; did you mean `{near[0]}`?" if near else ""
                raise LookupError(f"`{self._toolset}` has no resource `{name}`{hint}")
        before = self._replaced
        self._replaced = {**before, **resources}
        try:
            yield
        finally:
            self._replaced = before

    def _is_replaced(self) -> bool:
        names = self._lifespan.resources
        return bool(names) and all(name in self._replaced for name in names)

    def _joined(self, loop: asyncio.AbstractEventLoop) -> Run:
        with self._lock:
            if self._run is None or not self._run.is_alive:
                self._run = join_run(self._lifespan, self._package, self._toolset, loop)
            return self._run
