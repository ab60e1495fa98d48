"""Keeps what the MCP SDK logs of external servers out of the program's log.

The SDK logs texts of servers as they are, a traceback for every line that is no message,
and URLs with what is in them. Here one logger says what matters, escaped.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from .foreign_text import escaped

__all__ = ["quieten"]

_SPEAKERS = ("mcp", "httpx2", "httpcore2")
_logger = logging.getLogger("toolcast")


class _Quiet(logging.Filter):
    """Drops the records of one thread; at level DEBUG our own logger repeats them, escaped."""

    def __init__(self, thread: int, cleaned: Callable[[str], str]) -> None:
        super().__init__()
        self._thread = thread
        self._cleaned = cleaned

    def is_for(self, thread: int) -> bool:
        """Whether it drops what this thread logs."""
        return self._thread == thread

    def filter(self, record: logging.LogRecord) -> bool:
        if record.thread != self._thread:
            return True
        if _logger.isEnabledFor(logging.DEBUG):
            text = escaped(self._cleaned(record.getMessage()))
            _logger.debug("%s: %s", record.name, text)
        return False


def quieten(cleaned: Callable[[str], str]) -> None:
    """Filters the loggers that speak in the present thread; once a thread is enough.

    A filter of a logger is not asked for the records of its children, so each of them
    gets it.

    Args:
        cleaned: gives a text without the servers' secrets.
    """
    thread = threading.get_ident()
    quiet = _Quiet(thread, cleaned)
    names = [
        name
        for name in logging.root.manager.loggerDict
        if name.partition(".")[0] in _SPEAKERS
    ]
    for name in (*_SPEAKERS, *names):
        logger = logging.getLogger(name)
        there = (one for one in logger.filters if isinstance(one, _Quiet))
        if not any(one.is_for(thread) for one in there):
            logger.addFilter(quiet)
