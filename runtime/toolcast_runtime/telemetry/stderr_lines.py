"""Log lines to stderr that never hold a server up: who reads there may have stopped.

A client that starts a server over stdio may leave its stderr unread. What is not taken is lost
then, and a later line says how much.
"""

from __future__ import annotations

import logging
import select
from typing import TextIO

__all__ = ["StderrLines"]

_PATIENCE = 0.1
"""Seconds for the first line that is not taken; the next ones wait no more."""
_PIECE = 1024
"""Characters that a pipe takes whole when it takes any: a page, at four bytes each.

Source: pipe(7), PIPE_BUF
"""


class StderrLines(logging.StreamHandler[TextIO]):
    """Writes what is taken."""

    _lost = 0
    _is_torn = False

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a record, or counts it as lost."""
        try:
            line = self.format(record) + self.terminator
            if not self._lost:
                self._lost = int(not self._is_taken(line, _PATIENCE))
                return
            told = f"{self._lost} log lines are lost: nobody has read them"
            level = logging.WARNING
            args = (__name__, level, __file__, 0, told, None, None)
            before = self.format(logging.LogRecord(*args)) + self.terminator
            taken = self._is_taken(before + line, 0)
            self._lost = 0 if taken else self._lost + 1
        except Exception:
            self.handleError(record)

    def _is_taken(self, text: str, patience: float) -> bool:
        text = self.terminator * self._is_torn + text
        for at in range(0, len(text), _PIECE):
            if not self._is_ready(patience):
                self._is_torn = self._is_torn or at > 0
                return False
            self.stream.write(text[at : at + _PIECE])
            self.flush()
        self._is_torn = False
        return True

    def _is_ready(self, patience: float) -> bool:
        try:
            return bool(select.select([], [self.stream], [], patience)[1])
        except (OSError, ValueError):
            # It is none that can be waited for, as on Windows.
            return True
