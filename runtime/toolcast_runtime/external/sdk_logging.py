"""Keeps what the MCP SDK logs of external servers out of the program's log.

The SDK logs texts of servers as they are, a traceback for every line that is no message,
and URLs with what is in them. What matters of it is said by one logger, escaped.
"""

from __future__ import annotations

import logging
import threading

__all__ = ["quieten_thread"]

_SPEAKERS = ("mcp", "httpx2", "httpcore2")
_of_thread = threading.local()


class _Quiet(logging.Filter):
    """Drops the records that are made in threads which asked for quiet."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(_of_thread, "is_quiet", False)


_QUIET = _Quiet()


def quieten_thread() -> None:
    """From now on the SDK logs nothing in this thread; in others, as before.

    A filter of a logger is not asked for the records of its children, so each gets it.
    """
    _of_thread.is_quiet = True
    names = [
        name
        for name in logging.root.manager.loggerDict
        if name.partition(".")[0] in _SPEAKERS
    ]
    for name in (*_SPEAKERS, *names):
        # Adding it again changes nothing.
        logging.getLogger(name).addFilter(_QUIET)
