"""Keeps what the MCP SDK logs of external servers out of the program's log.

The SDK logs texts of servers as they are, a traceback for every line that is no message,
and URLs with what is in them. What matters of it is said by one logger, escaped.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar

IS_QUIET: ContextVar[bool] = ContextVar("is_quiet", default=False)
"""Whether what runs here, and the tasks that it starts, works with external servers."""

_SPEAKERS = ("mcp", "httpx2", "httpcore2")


class _Quiet(logging.Filter):
    """Drops the records of what works with external servers."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not IS_QUIET.get()


_QUIET = _Quiet()


def quieten() -> None:
    """From now on the SDK logs nothing where `IS_QUIET` is set; elsewhere, as before.

    A filter of a logger is not asked for the records of its children, so each gets it.
    """
    names = [
        name
        for name in logging.root.manager.loggerDict
        if name.partition(".")[0] in _SPEAKERS
    ]
    for name in (*_SPEAKERS, *names):
        # Adding it again changes nothing.
        logging.getLogger(name).addFilter(_QUIET)
