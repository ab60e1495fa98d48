"""A command as one batch of work: nothing of it is garbage before its end."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["without_collector"]


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Keeps Python's collector of reference cycles off meanwhile; also a decorator.

    What a run builds is a tree that lives to the end, which the collector would go through
    again and again; what it drops has no cycles.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
