"""Python's values as the texts of formats that JSON Schema has for them."""

from __future__ import annotations

import base64
import uuid
from datetime import date, datetime, time, timedelta
from enum import Enum
from typing import Any


def json_text(value: Any) -> Any:
    """A value as JSON has it.

    Raises:
        TypeError: it is of another type.
        ValueError: no text of its format says it. The text names what is in the way.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (datetime, time)):
        return _with_zone(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    raise TypeError


def _with_zone(value: datetime | time) -> str:
    """RFC 3339, whose offsets are whole minutes."""
    kind = f"it holds a Python {type(value).__name__}"
    offset = value.utcoffset()
    if offset is None:
        raise ValueError(f"{kind} without a zone")
    if offset % timedelta(minutes=1):
        raise ValueError(f"{kind} whose zone is off by seconds")
    return value.isoformat().replace("+00:00", "Z")


def _duration(value: timedelta) -> str:
    """RFC 3339, appendix A: whole seconds, and nothing below zero."""
    if value < timedelta() or value.microseconds:
        raise ValueError(
            "it holds a Python timedelta below zero or of part of a second"
        )
    hours, seconds = divmod(value.seconds, 3600)
    minutes, seconds = divmod(seconds, 60)
    days = f"{value.days}D" if value.days else ""
    text = f"{hours}H" if hours else ""
    if minutes or (hours and seconds):
        text += f"{minutes}M"
    text += f"{seconds}S" if seconds else ""
    return f"P{days}T{text}" if text else f"P{days or '0D'}"
