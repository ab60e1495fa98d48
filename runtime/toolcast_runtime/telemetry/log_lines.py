"""How a server's processes log to stderr: lines for people, or JSON for machines.

Only who is the whole program sets this up; elsewhere the loggers below `toolcast` are the
program's to use. JSON needs `python-json-logger`, imported when it is asked for.
"""

from __future__ import annotations

import importlib.util
import logging
from typing import Any, Literal

from ..calls.untrusted_text import escaped
from .stderr_lines import StderrLines
from .times import zoned

__all__ = ["LogFormat", "LogLevel", "LogsError", "TextLines", "write_logs"]

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]


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
        from .json_lines import JsonLines

        lines = JsonLines()
    # No line has these names, and finding them out is a good part of what a record costs.
    logging.logThreads = logging.logMultiprocessing = False
    handler = StderrLines()
    handler.setFormatter(lines)
    number = logging.getLevelNamesMapping()[level.upper()]
    logging.getLogger("toolcast").setLevel(number)
    logging.getLogger().handlers[:] = [handler]
    logging.getLogger().setLevel(max(number, logging.INFO))
    # It tells of every manager and request; ours tells what came of them.
    logging.getLogger("mcp").setLevel(max(number, logging.WARNING))
    # A line a request would show query strings.
    logging.getLogger("uvicorn.access").setLevel(logging.ERROR)


class TextLines(logging.Formatter):
    """One line a record; what follows it, such as a traceback, is indented.

    So whatever text of others stands in it, a line that begins with a time is one.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """As `zoned`."""
        return zoned(record)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line."""
        message = record.message
        if not message.isprintable():
            record.message = escaped(message, len(message))
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:
        """The traceback, indented."""
        return _indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:
        """The stack, indented."""
        return _indented(super().formatStack(stack_info))


def _indented(text: str) -> str:
    return "\n".join(f"  {escaped(line, len(line))}" for line in text.splitlines())
