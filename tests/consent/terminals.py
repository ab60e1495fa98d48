"""Commands that run in a terminal of their own, where a person types."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ENDED = 60.0


class Terminal:
    """A command that runs in a terminal, where a person types."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._waited_for = 0
        self.shown = ""

    def until(self, text: str) -> None:
        """Waits until a text is shown, after what was waited for before."""
        end = time.monotonic() + ENDED
        while (at := self.shown.find(text, self._waited_for)) < 0:
            assert time.monotonic() < end, self.shown
            if not self._read(1.0):
                raise AssertionError(self.shown)
        self._waited_for = at + len(text)

    def type(self, text: str) -> None:
        os.write(self._number, text.encode())

    def rest(self) -> None:
        """Waits until nothing more is shown."""
        end = time.monotonic() + ENDED
        while self._read(1.0):
            assert time.monotonic() < end, self.shown

    def _read(self, patience: float) -> bool:
        ready, _, _ = select.select([self._number], [], [], patience)
        if not ready:
            return True
        try:
            part = os.read(self._number, 4096)
        except OSError:  # the other side is closed
            return False
        self.shown += part.decode().replace("\r\n", "\n")
        return bool(part)


_IN_TERMINAL = """
import os, sys
terminal, stdin, *words = sys.argv[1:]
os.login_tty(int(terminal))
if int(stdin):
    os.dup2(int(stdin), 0)
os.execv(sys.executable, [sys.executable, "-m", *words])
"""


@contextmanager
def in_terminal(
    root: Path, environment: Mapping[str, str], *words: str, stdin: str | None = None
) -> Iterator[Terminal]:
    """Runs a Python module with a terminal of its own.

    Args:
        root: where it runs.
        environment: beside that of the tests.
        words: the module and what it is given.
        stdin: what stands in its input, which is the terminal otherwise.
    """
    number, other = pty.openpty()
    reading, writing = os.pipe()
    if stdin is not None:
        os.write(writing, stdin.encode())
    os.close(writing)
    numbers = (str(other), str(0 if stdin is None else reading))
    with subprocess.Popen(
        [sys.executable, "-c", _IN_TERMINAL, *numbers, *words],
        cwd=root,
        env={**os.environ, **environment},
        pass_fds=(other, reading),
    ):
        os.close(other)
        os.close(reading)
        try:
            yield Terminal(number)
        finally:
            os.close(number)
