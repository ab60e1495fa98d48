"""Log lines for machines. Needs `python-json-logger`."""

from __future__ import annotations

import logging

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

from .times import zoned


class JsonLines(JsonFormatter):
    """One JSON object a record, with its `extra`; a text of others is a string in it."""

    def __init__(self) -> None:
        super().__init__(
            "%(asctime)s %(levelname)s %(name)s %(process)d %(message)s",
            rename_fields={"asctime": "time", "levelname": "level"},
            # uvicorn's message once more, with codes for terminals.
            reserved_attrs=[*RESERVED_ATTRS, "color_message"],
        )

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """As `zoned`."""
        return zoned(record)
