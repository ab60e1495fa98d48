"""Runs a module as a program that ends when the process that started it is gone.

    python -m toolcast.commands.generate.server_process MODULE [WORD]...

Its stdin is a pipe that nobody writes to; the module finds an empty one.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading


def run() -> None:
    """Runs the module that is named first, with the words behind it."""
    held, empty = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    threading.Thread(target=_end_with, args=(held,), daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _end_with(pipe: int) -> None:
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    run()
