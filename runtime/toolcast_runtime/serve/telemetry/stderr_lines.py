"""Log lines to stderr that never hold a server up: who reads there may have stopped.

A client that starts a server over stdio may leave its stderr unread. What is not taken is lost
then, and a later line says how much.
"""

from __future__ import annotations

import logging
import os
import select

_PATIENCE = 0.1
"""Seconds for the first line that is not taken; the next ones wait no more."""
_PIECE: int = getattr(select, "PIPE_BUF", 512)
"""Bytes that a pipe takes whole, and in one, when it takes any."""


class StderrLines(logging.Handler):
    """Writes what is taken.

    Args:
        descriptor: of the file that the lines go to.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._lost = 0
        self._is_torn = False

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a record, or counts it as lost."""
        try:
            line = self.format(record)
            if not self._lost:
                self._lost = int(not self._is_taken(line, _PATIENCE))
                return
            told = f"{self._lost} log lines are lost: nobody has read them"
            level = logging.WARNING
            args = (__name__, level, __file__, 0, told, None, None)
            before = self.format(logging.LogRecord(*args))
            taken = self._is_taken(f"{before}\n{line}", 0)
            self._lost = 0 if taken else self._lost + 1
        except Exception:
            self.handleError(record)

    def _is_taken(self, text: str, patience: float) -> bool:
        text = f"\n{text}\n" if self._is_torn else f"{text}\n"
        data = text.encode("utf-8", "backslashreplace")
        at = 0
        while at < len(data):
            if not self._is_ready(patience):
                self._is_torn = self._is_torn or at > 0
                return False
            at += os.write(self._descriptor, data[at : at + _PIECE])
        self._is_torn = False
        return True

    def _is_ready(self, patience: float) -> bool:
        try:
            return bool(select.select((), (self._descriptor,), (), patience)[1])
        except OSError:
            # It is none that can be waited for, as on Windows.
            return True
