"""Logs of a server process on stderr, as text lines or as JSON.

Only the server commands set this up. An application that mounts or imports a toolset configures
the `toolcast` loggers itself. JSON requires `python-json-logger`, which is imported on demand.

Writing a log line never blocks a server, because a client that starts a server over stdio may
not read its stderr. Lines that cannot be written are dropped; a later line states their number.
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
"""Time to wait for a writable stderr; after a dropped line, further lines do not wait."""
_MAX_WRITE_BYTES: int = getattr(select, "PIPE_BUF", 512)
"""Maximum size of a write that a writable pipe accepts completely."""


class LogsError(Exception):
    """The requested log format cannot be used; the message states how to fix it."""


def write_logs(log_format: LogFormat = "text", level: LogLevel = "info") -> None:
    """Configure logging: this process logs to stderr from now on.

    The level `debug` applies to Toolcast's own loggers only, because libraries may log the
    content of requests at this level.

    Raises:
        LogsError: the format is JSON, but its library is not installed.
    """
    formatter: logging.Formatter = TextFormatter()
    if log_format == "json":
        if importlib.util.find_spec("pythonjsonlogger") is None:
            raise LogsError(
                "logs in JSON need the package python-json-logger; install it"
            )
        formatter = _build_json_formatter()
    # Do not look up the names of threads and processes, which is slow and which no log format
    # contains.
    logging.logThreads = logging.logMultiprocessing = False
    handler: logging.Handler = logging.NullHandler()
    # Do not log if the process was started with stderr closed (`sys.stderr` is None): a file
    # that is opened later may have the descriptor 2.
    if sys.stderr is not None:
        handler = StderrHandler(sys.stderr.fileno())
    handler.setFormatter(formatter)
    # Limit the rate of log lines about connections, because any client can cause them.
    handler.addFilter(RateLimitFilter("asyncio", "uvicorn"))
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.getLogger("toolcast").setLevel(number)
    logging.getLogger().handlers[:] = [handler]
    logging.getLogger().setLevel(max(number, logging.INFO))
    # Suppress the request logs of these libraries: Toolcast logs its requests itself, and the
    # URLs of handlers' own requests may contain secrets.
    for library in ("mcp", "httpx", "httpx2"):
        logging.getLogger(library).setLevel(max(number, logging.WARNING))
    # Rename the logger `uvicorn.error` in log lines, because uvicorn uses it for its start and
    # end, not only for errors.
    logging.getLogger("uvicorn.error").name = "uvicorn"
    # Suppress uvicorn's access log, whose lines contain query strings.
    logging.getLogger("uvicorn.access").setLevel(logging.ERROR)


class TextFormatter(logging.Formatter):
    """Formatter that writes a record as one line, and its traceback as indented lines.

    Unprintable characters are escaped. So only the first line of a record begins with a time,
    even if the record contains text from callers.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, followed by its traceback and stack."""
        # Format directly, because each call logs a line, and the general formatting of
        # `logging` is twice as slow.
        line = (
            f"{_format_time(record)} {record.levelname} {record.name}"
            f" {record.getMessage()}"
        )
        if line.isprintable() and not (record.exc_info or record.stack_info):
            return line
        lines = [line]
        if record.exc_info:
            exception = self.formatException(record.exc_info)
            lines += [f"  {text}" for text in exception.splitlines()]
        if record.stack_info:
            lines += [f"  {text}" for text in record.stack_info.splitlines()]
        return "\n".join(
            text if text.isprintable() else escape_excerpt(text, len(text))
            for text in lines
        )


def _build_json_formatter() -> logging.Formatter:
    """Build a formatter that writes one JSON object per record, with its `extra`."""
    from pythonjsonlogger.core import RESERVED_ATTRS
    from pythonjsonlogger.json import JsonFormatter

    class UtcJsonFormatter(JsonFormatter):
        def formatTime(
            self, record: logging.LogRecord, datefmt: str | None = None
        ) -> str:
            return _format_time(record)

    return UtcJsonFormatter(
        "%(asctime)s %(levelname)s %(name)s %(process)d %(message)s",
        rename_fields={"asctime": "time", "levelname": "level"},
        # Exclude uvicorn's extra field, which repeats the message with color codes.
        reserved_attrs=[*RESERVED_ATTRS, "color_message"],
    )


def _format_time(record: logging.LogRecord) -> str:
    """Return the time of a record in UTC: ISO 8601 with milliseconds."""
    return datetime.fromtimestamp(record.created, UTC).isoformat(
        timespec="milliseconds"
    )


class StderrHandler(logging.Handler):
    """Log handler that writes to a file descriptor, and drops lines that would block.

    Args:
        descriptor: the file descriptor.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._dropped = 0
        self._has_partial_line = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it as dropped."""
        try:
            line = self.format(record)
            if not self._dropped:
                self._dropped = int(not self._write(line, _WRITE_TIMEOUT_S))
                return
            message = f"{self._dropped} log lines were dropped: stderr was not read"
            level = logging.WARNING
            args = (__name__, level, __file__, 0, message, None, None)
            notice = self.format(logging.LogRecord(*args))
            is_written = self._write(f"{notice}\n{line}", 0)
            self._dropped = 0 if is_written else self._dropped + 1
        except Exception:
            self.handleError(record)

    def _write(self, text: str, timeout: float) -> bool:
        """Write a line; return False if the descriptor stays unwritable for `timeout` seconds.

        A part of the line may then be written; the next write begins on a new line.
        """
        text = f"\n{text}\n" if self._has_partial_line else f"{text}\n"
        data = text.encode("utf-8", "backslashreplace")
        written = 0
        while written < len(data):
            if not self._is_writable(timeout):
                self._has_partial_line = self._has_partial_line or written > 0
                return False
            piece = data[written : written + _MAX_WRITE_BYTES]
            written += os.write(self._descriptor, piece)
        self._has_partial_line = False
        return True

    def _is_writable(self, timeout: float) -> bool:
        try:
            return bool(select.select((), (self._descriptor,), (), timeout)[1])
        except OSError:
            # The descriptor cannot be polled, as on Windows.
            return True
