"""How a server's processes log to stderr: lines for people, or JSON for machines.

Only who is the whole program sets this up; elsewhere the loggers below `toolcast` are the
program's to use. JSON needs `python-json-logger`, imported when it is asked for.

The lines never hold a server up: a client that starts a server over stdio may leave its stderr
unread. What is not taken is lost then, and a later line says how much.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import select
import sys
from datetime import UTC, datetime
from typing import Literal

from ..core.calls.untrusted_text import RateLimitFilter, escape_excerpt

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]

_WRITE_TIMEOUT_S = 0.1
"""Time to wait for the first line that cannot be written; the next ones do not wait."""
_PIECE: int = getattr(select, "PIPE_BUF", 512)
"""Bytes that a pipe takes whole, and in one, when it takes any."""


class LogsError(Exception):
    """Logs cannot be written as they are asked for; the text says what to do."""


def write_logs(log_format: LogFormat = "text", level: LogLevel = "info") -> None:
    """Writes what this process logs to stderr, from now on.

    `debug` is for Toolcast's own loggers: what libraries tell at that level may hold what
    callers sent.

    Raises:
        LogsError: JSON is asked for, and its library is not installed.
    """
    lines: logging.Formatter = TextLines()
    if log_format == "json":
        if importlib.util.find_spec("pythonjsonlogger") is None:
            raise LogsError(
                "logs in JSON need the package python-json-logger; install it"
            )
        lines = _json_lines()
    # No line has these names, and finding them out is a good part of what a record costs.
    logging.logThreads = logging.logMultiprocessing = False
    handler: logging.Handler = logging.NullHandler()
    # None where the process was started with its stderr closed: what it opens takes the number.
    if sys.stderr is not None:
        handler = StderrLines(sys.stderr.fileno())
    handler.setFormatter(lines)
    # Strangers can bring about what these tell of connections.
    handler.addFilter(RateLimitFilter("asyncio", "uvicorn"))
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.getLogger("toolcast").setLevel(number)
    logging.getLogger().handlers[:] = [handler]
    logging.getLogger().setLevel(max(number, logging.INFO))
    # They tell of every manager and request; ours tells what came of them. URLs that handlers
    # ask for, with their query strings, are nobody's to read.
    for library in ("mcp", "httpx", "httpx2"):
        logging.getLogger(library).setLevel(max(number, logging.WARNING))
    # Where uvicorn tells of its start and its end, too.
    logging.getLogger("uvicorn.error").name = "uvicorn"
    # A line a request would show query strings.
    logging.getLogger("uvicorn.access").setLevel(logging.ERROR)


class TextLines(logging.Formatter):
    """One line a record; what follows it, such as a traceback, is indented.

    So whatever text of others stands in it, a line that begins with a time is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, and what follows it."""
        # Each call has one: what `logging` does for formats in general takes twice as long.
        line = (
            f"{_zoned(record)} {record.levelname} {record.name} {record.getMessage()}"
        )
        if line.isprintable() and not (record.exc_info or record.stack_info):
            return line
        lines = [line]
        if record.exc_info:
            after = self.formatException(record.exc_info)
            lines += [f"  {each}" for each in after.splitlines()]
        if record.stack_info:
            lines += [f"  {each}" for each in record.stack_info.splitlines()]
        return "\n".join(
            each if each.isprintable() else escape_excerpt(each, len(each))
            for each in lines
        )


def _json_lines() -> logging.Formatter:
    """One JSON object a record, with its `extra`; a text of others is a string in it."""
    from pythonjsonlogger.core import RESERVED_ATTRS
    from pythonjsonlogger.json import JsonFormatter

    class JsonLines(JsonFormatter):
        def formatTime(
            self, record: logging.LogRecord, datefmt: str | None = None
        ) -> str:
            """As `_zoned`."""
            return _zoned(record)

    return JsonLines(
        "%(asctime)s %(levelname)s %(name)s %(process)d %(message)s",
        rename_fields={"asctime": "time", "levelname": "level"},
        # uvicorn's message once more, with codes for terminals.
        reserved_attrs=[*RESERVED_ATTRS, "color_message"],
    )


def _zoned(record: logging.LogRecord) -> str:
    """When it was logged: ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(record.created, UTC).isoformat(
        timespec="milliseconds"
    )


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
                self._lost = int(not self._is_taken(line, _WRITE_TIMEOUT_S))
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
