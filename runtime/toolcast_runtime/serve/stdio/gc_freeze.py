"""Keeps the garbage collector away from what a server makes while it starts."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def gc_freeze() -> Iterator[None]:
    """Collects nothing meanwhile, and afterwards nothing of what is there by then.

    Importing the SDK makes hundreds of classes, which stay: to look for garbage among them
    over and over is a tenth of the start, and later the longest pause of a call.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
