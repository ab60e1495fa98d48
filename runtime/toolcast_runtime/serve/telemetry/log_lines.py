"""How a server's processes log to stderr: lines for people, or JSON for machines.

Only who is the whole program sets this up; elsewhere the loggers below `toolcast` are the
program's to use. JSON needs `python-json-logger`, imported when it is asked for.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from typing import Literal

from ...core.calls.untrusted_text import escaped
from .stderr_lines import StderrLines
from .times import zoned

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
    handler: logging.Handler = logging.NullHandler()
    # None where the process was started with its stderr closed: what it opens takes the number.
    if sys.stderr is not None:
        handler = StderrLines(sys.stderr.fileno())
    handler.setFormatter(lines)
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
        line = f"{zoned(record)} {record.levelname} {record.name} {record.getMessage()}"
        lines = [line]
        if record.exc_info:
            after = self.formatException(record.exc_info)
            lines += [f"  {each}" for each in after.splitlines()]
        if record.stack_info:
            lines += [f"  {each}" for each in record.stack_info.splitlines()]
        return "\n".join(
            each if each.isprintable() else escaped(each, len(each)) for each in lines
        )
