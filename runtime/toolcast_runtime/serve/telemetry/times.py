"""When a line was logged."""

from __future__ import annotations

import logging
from datetime import UTC, datetime


def zoned(record: logging.LogRecord) -> str:
    """When it was logged: ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(record.created, UTC).isoformat(
        timespec="milliseconds"
    )
