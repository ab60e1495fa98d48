"""One line about how far a call is, on standard error, while a person watches."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection

from ...core.calls.untrusted_text import escaped, without

_LONGEST = 78


class ProgressLine:
    """Shows the newest report in place of the one before.

    Args:
        secrets: taken out of what is shown.
    """

    def __init__(self, secrets: Collection[str] = ()) -> None:
        self._stream = sys.stderr if sys.stderr.isatty() else None
        self._secrets = secrets
        self._width = 0
        self.is_paused = False

    async def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Shows a report, unless it is none, or nobody watches."""
        if self._stream is None or self.is_paused or not math.isfinite(progress):
            return
        line = _far(progress, total)
        if message:
            line += f"  {escaped(without(message[:1000], self._secrets))}"
        line = line.encode("ascii", "backslashreplace").decode("ascii")[:_LONGEST]
        self._stream.write(f"\r{line.ljust(self._width)}")
        self._stream.flush()
        self._width = len(line)

    def clear(self) -> None:
        """Takes the line away."""
        if self._stream is not None and self._width:
            self._stream.write(f"\r{' ' * self._width}\r")
            self._stream.flush()
            self._width = 0


def _far(progress: float, total: float | None) -> str:
    if total is None or not math.isfinite(total) or total <= 0:
        return f"{progress:g}"
    return f"{progress:g} of {total:g} ({min(progress / total, 1):.0%})"
