"""Suppression of the MCP SDK's log records about external servers.

The SDK logs text from servers unescaped, a traceback for each line that is not a message, and
complete URLs. This package logs the relevant events itself, escaped.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar

IS_SDK_LOG_SUPPRESSED: ContextVar[bool] = ContextVar(
    "is_sdk_log_suppressed", default=False
)
"""Whether the SDK's log records of the current task are dropped."""
_SDK_LOGGERS = ("mcp", "httpx2", "httpcore2")


class _SdkLogFilter(logging.Filter):
    """Logging filter that drops the records of tasks that work with external servers."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not IS_SDK_LOG_SUPPRESSED.get()


_SDK_LOG_FILTER = _SdkLogFilter()


def suppress_sdk_logs() -> None:
    """Drop the SDK's log records in tasks that set `IS_SDK_LOG_SUPPRESSED`.

    The filter is added to each logger, because a logger's filters do not apply to the records of
    its child loggers.
    """
    child_loggers = [
        name
        for name in logging.root.manager.loggerDict
        if name.partition(".")[0] in _SDK_LOGGERS
    ]
    for name in (*_SDK_LOGGERS, *child_loggers):
        # `addFilter` has no effect if the logger already has this filter.
        logging.getLogger(name).addFilter(_SDK_LOG_FILTER)
