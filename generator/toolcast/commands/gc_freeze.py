"""A command as one batch of work: hardly anything of it is garbage before its end."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["with_rare_collections"]

_OBJECTS = 50_000


@contextlib.contextmanager
def with_rare_collections() -> Iterator[None]:
    """Lets Python's collector of reference cycles run rarely meanwhile; also a decorator.

    What a run builds is a tree that lives to the end, which the collector would go through
    again and again. It is not switched off: what words the problems of a hostile schema
    makes cycles without end.
    """
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
