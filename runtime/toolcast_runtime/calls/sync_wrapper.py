"""Twins of async functions for callers without an event loop."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["sync"]

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def sync(
    function: Callable[_Given, Coroutine[Any, Any, _Result]],
) -> Callable[_Given, _Result]:
    """The twin of an async function for callers without an event loop."""

    @wraps(function)
    def twin(*given: _Given.args, **named: _Given.kwargs) -> _Result:
        from .background_loop import run_sync

        return run_sync(function(*given, **named))

    # It is not what it wraps: tools that look through must not await it.
    del twin.__dict__["__wrapped__"]
    twin.__name__ = f"{function.__name__}_sync"
    return twin
