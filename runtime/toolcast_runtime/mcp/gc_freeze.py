"""What a server makes while it starts, which stays as long as the process."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["lasting"]


@contextmanager
def lasting() -> Iterator[None]:
    """Objects that are made meanwhile stay, and are not looked through as garbage.

    Hundreds of classes are made when the SDK is imported. To look for garbage among them over
    and over is a tenth of the start, and later the longest pause of a call.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
