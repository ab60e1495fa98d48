"""Progress line on stderr for long runs in a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from ..pipeline import Progress

_FIRST_DELAY_S = 0.5
"""Seconds until the progress line is first printed; shorter runs print none."""
_UPDATE_INTERVAL_S = 0.1
"""Minimum number of seconds between two updates of the progress line."""


class ProgressLine(Progress):
    """Progress callbacks that print the progress of a run as one line.

    The line appears after half a second and is updated at most ten times a second.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next_update = time.monotonic() + _FIRST_DELAY_S
        self._stage = ""
        self._count = 0
        self._width = 0

    def stage(self, label: str) -> None:
        """Begin a stage with a label, and reset the file counter to 0."""
        self._stage, self._count = label, 0
        self._update()

    def step(self) -> None:
        """Count one more finished file."""
        self._count += 1
        self._update()

    def end(self) -> None:
        """Erase the progress line from the terminal, if it was printed."""
        if self._width:
            self._stream.write(f"\r{' ' * self._width}\r")
            self._stream.flush()
            self._width = 0

    def _update(self) -> None:
        now = time.monotonic()
        if now < self._next_update:
            return
        self._next_update = now + _UPDATE_INTERVAL_S
        count = f" {self._count:,} files" if self._count else ""
        line = f"{self._stage}{count}"
        # Spaces at the end overwrite the rest of a longer previous line.
        self._stream.write(f"\r{line.ljust(self._width)}")
        self._stream.flush()
        self._width = len(line)


@contextmanager
def show_progress(stream: TextIO | None = None) -> Iterator[Progress]:
    """Provide progress callbacks; on a terminal, they print a progress line.

    Otherwise the callbacks do nothing. The line is erased at the end.

    Args:
        stream: defaults to stderr.
    """
    stream = stream or sys.stderr
    if not stream.isatty():
        yield Progress()
        return
    line = ProgressLine(stream)
    try:
        yield line
    finally:
        line.end()
