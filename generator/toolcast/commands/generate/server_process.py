"""Run a module as a program that stops when its parent process ends.

    python -m toolcast.commands.generate.server_process MODULE [ARGUMENT]...

The parent passes a pipe as stdin and writes nothing to it. The operating system closes the
pipe when the parent ends, and this process then sends itself SIGTERM. The module has an empty
stdin instead of the pipe.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading


def run() -> None:
    """Run the module that the first argument names, with the other arguments.

    The process ends with SIGTERM when its stdin, a pipe from the parent, is closed.
    """
    pipe, empty = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    threading.Thread(target=_terminate_at_end, args=(pipe,), daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _terminate_at_end(pipe: int) -> None:
    # The parent writes nothing, so `read` returns only when the pipe is closed.
    os.read(pipe, 1)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    run()
