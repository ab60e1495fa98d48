"""Run a server and count its event loop iterations: `counted.py FILE -m MODULE ...` or `FILE SCRIPT ...`.

Each iteration calls the selector once. FILE contains the count as an eight-byte integer.
"""

from __future__ import annotations

import mmap
import os
import runpy
import selectors
import sys
from typing import Any

with open(sys.argv[1], "wb+") as file:
    file.write(bytes(8))
    file.flush()
    ROUNDS = memoryview(mmap.mmap(file.fileno(), 8)).cast("Q")


class CountingSelector(selectors.DefaultSelector):
    """Selector that counts its calls."""

    def select(self, timeout: float | None = None) -> Any:
        """Count the call, then return the ready files."""
        ROUNDS[0] += 1
        return super().select(timeout)


selectors.DefaultSelector = CountingSelector  # type: ignore[misc]
is_module = sys.argv[2] == "-m"
name, *options = sys.argv[3 if is_module else 2 :]
sys.argv = [name, *options]
if is_module:
    sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name="__main__", alter_sys=True)
else:
    sys.path[0] = os.path.dirname(name)
    runpy.run_path(name, run_name="__main__")
