"""One line about long work, on standard error, while a person watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from ..pipeline import Progress

_FIRST_DELAY_S = 0.5
"""Time before the progress line is first shown."""
_UPDATE_INTERVAL_S = 0.1
"""Time between two updates of the progress line."""


class ProgressLine(Progress):
    """Prints what a run is at, from half a second on, ten times a second at most."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = time.monotonic() + _FIRST_DELAY_S
        self._stage = ""
        self._count = 0
        self._width = 0

    def stage(self, words: str) -> None:
        """Another kind of work begins."""
        self._stage, self._count = words, 0
        self._show()

    def step(self) -> None:
        """One file more is done."""
        self._count += 1
        self._show()

    def end(self) -> None:
        """Takes the line away."""
        if self._width:
            self._stream.write(f"\r{' ' * self._width}\r")
            self._stream.flush()
            self._width = 0

    def _show(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _UPDATE_INTERVAL_S
        count = f" {self._count:,} files" if self._count else ""
        line = f"{self._stage}{count}"
        self._stream.write(f"\r{line.ljust(self._width)}")
        self._stream.flush()
        self._width = len(line)


@contextmanager
def show_progress(stream: TextIO | None = None) -> Iterator[Progress]:
    """Prints the progress of the work within, if a person watches.

    Args:
        stream: where it is printed; default: standard error.
    """
    stream = stream or sys.stderr
    if not stream.isatty():
        yield Progress()
        return
    shown = ProgressLine(stream)
    try:
        yield shown
    finally:
        shown.end()
