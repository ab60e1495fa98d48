"""Runs a server that counts the rounds of its event loop: `counted.py FILE -m MODULE ...` or `FILE SCRIPT ...`.

A round asks the selector once what is ready. The file holds their number, in eight bytes.
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


class Counted(selectors.DefaultSelector):
    """The selector of an event loop."""

    def select(self, timeout: float | None = None) -> Any:
        """What is ready."""
        ROUNDS[0] += 1
        return super().select(timeout)


selectors.DefaultSelector = Counted  # type: ignore[misc]
is_module = sys.argv[2] == "-m"
name, *options = sys.argv[3 if is_module else 2 :]
sys.argv = [name, *options]
if is_module:
    sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name="__main__", alter_sys=True)
else:
    sys.path[0] = os.path.dirname(name)
    runpy.run_path(name, run_name="__main__")
