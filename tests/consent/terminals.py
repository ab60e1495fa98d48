"""Commands that run in a pseudo-terminal, for tests that type answers."""

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

READ_TIMEOUT_S = 60.0


class Terminal:
    """The controlling side of a command's pseudo-terminal."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._waited_for = 0
        self.output = ""

    def read_until(self, text: str) -> None:
        """Read until a text appears after the previous match."""
        end = time.monotonic() + READ_TIMEOUT_S
        while (at := self.output.find(text, self._waited_for)) < 0:
            assert time.monotonic() < end, self.output
            if not self._read(1.0):
                raise AssertionError(self.output)
        self._waited_for = at + len(text)

    def type(self, text: str) -> None:
        """Send text as keyboard input."""
        os.write(self._number, text.encode())

    def read_to_end(self) -> None:
        """Read until the command closes the terminal."""
        end = time.monotonic() + READ_TIMEOUT_S
        while self._read(1.0):
            assert time.monotonic() < end, self.output

    def _read(self, timeout: float) -> bool:
        """Read available output; return whether the terminal is still open."""
        ready, _, _ = select.select([self._number], [], [], timeout)
        if not ready:
            return True
        try:
            part = os.read(self._number, 4096)
        except OSError:  # The command has closed its side.
            return False
        self.output += part.decode().replace("\r\n", "\n")
        return bool(part)


_IN_TERMINAL = """
import os, sys
terminal, stdin, *args = sys.argv[1:]
os.login_tty(int(terminal))
if int(stdin):
    os.dup2(int(stdin), 0)
os.execv(sys.executable, [sys.executable, "-m", *args])
"""


@contextmanager
def run_in_terminal(
    root: Path, environment: Mapping[str, str], *args: str, stdin: str | None = None
) -> Iterator[Terminal]:
    """Run a Python module in a pseudo-terminal.

    Args:
        root: the working directory.
        environment: variables added to those of the tests.
        args: the module and its arguments.
        stdin: content of standard input; None if it is the terminal.
    """
    number, other = pty.openpty()
    reading, writing = os.pipe()
    if stdin is not None:
        os.write(writing, stdin.encode())
    os.close(writing)
    numbers = (str(other), str(0 if stdin is None else reading))
    with subprocess.Popen(
        [sys.executable, "-c", _IN_TERMINAL, *numbers, *args],
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
