"""Starts a coroutine as a task at once, so that one which need not wait costs no loop turn.

From Python 3.12 on asyncio can do it. For 3.11 the first step is made here, with the task as
the current one: what Python's documentation gives to other implementations of tasks.
Source: https://docs.python.org/3/library/asyncio-extending.html#task-lifetime-support
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

__all__ = ["start"]

_Result = TypeVar("_Result")


def start(
    coroutine: Coroutine[Any, Any, _Result],
) -> asyncio.Task[_Result] | _Result:
    """Runs a coroutine, which gives no task, up to where it waits for the first time.

    Returns:
        The task that goes on with it, in a copy of the present context; or what the
        coroutine gave, when it did not wait.

    Raises:
        BaseException: what the coroutine raised without having waited.
    """
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    if sys.version_info >= (3, 12):
        task = asyncio.Task(coroutine, loop=loop, context=context, eager_start=True)
        return task.result() if task.done() else task
    rest = _Rest(coroutine)
    task = asyncio.Task(rest, loop=loop, context=context)
    parent = asyncio.current_task(loop)
    if parent is not None:
        asyncio.tasks._leave_task(loop, parent)
    asyncio.tasks._enter_task(loop, task)
    try:
        rest.waits_for = context.run(coroutine.send, None)
        rest.has_waited = True
    except StopIteration as end:
        result: _Result = end.value
        return result
    finally:
        asyncio.tasks._leave_task(loop, task)
        if parent is not None:
            asyncio.tasks._enter_task(loop, parent)
    return task


class _Rest(Coroutine[Any, Any, Any]):
    """A coroutine from its second step on, for the task that goes on with it.

    The task steps it first in the next turn of the loop: it is given then what the first
    step waits for, or finds nothing left to do.
    """

    __slots__ = ("_coroutine", "has_waited", "waits_for")

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._coroutine = coroutine
        self.has_waited = False
        self.waits_for: Any = _NOTHING

    def send(self, value: Any, /) -> Any:
        """One step."""
        if not self.has_waited:
            raise StopIteration
        waits_for = self.waits_for
        if waits_for is _NOTHING:
            return self._coroutine.send(value)
        self.waits_for = _NOTHING
        return waits_for

    def throw(self, *error: Any) -> Any:
        """One step that begins with an exception, cancellation above all."""
        if not self.has_waited:
            raise StopIteration
        self.waits_for = _NOTHING
        return self._coroutine.throw(*error)

    def close(self) -> None:
        """Ends the coroutine where it is."""
        self._coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise TypeError("only a task goes on with it")

    def __getattr__(self, name: str) -> Any:
        # `cr_frame` and its like, by which a task is shown and anyio sees whether it began.
        return getattr(self._coroutine, name)


_NOTHING = object()
