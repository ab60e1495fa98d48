"""What Python gave, as the JSON value that every caller gets."""

from __future__ import annotations

import base64
import json
import uuid
from datetime import date, datetime, time, timedelta
from enum import Enum
from typing import Any


class NotJsonError(ValueError):
    """A value is not JSON. The text names what is in the way, and nothing of the value."""


def plain_json(value: Any, *, has_python_values: bool = False) -> Any:
    """The value as JSON would bring it to a caller far away: of plain Python types alone.

    Tuples become lists, and subclasses of `str`, `int`, `float`, `dict` and `list`, such as
    members of enumerations and named tuples, what they are subclasses of. Keys that are
    numbers, booleans or None become text as the module `json` writes them. Nothing else is
    converted: what becomes of sets, dates, bytes and objects is for the handler to say.

    Args:
        value: any.
        has_python_values: dates, times, durations, UUIDs and members of enumerations become
            texts as their formats have them, and bytes that are left base64.

    Raises:
        NotJsonError: the value holds what JSON does not have.
    """
    if type(value) is str:
        return _sendable(value, value)
    try:
        text = _encode_python(value) if has_python_values else _encode(value)
        return _sendable(text, _decode(text))
    except NotJsonError:
        raise
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except TypeError:
        raise NotJsonError("it has a key that is not text") from None
    except ValueError as error:
        raise NotJsonError(_why(error)) from None


def _sendable(text: str, value: Any) -> Any:
    if not text.isascii():
        # A lone surrogate, as a file's name may have one, cannot be sent.
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise NotJsonError("it has half of a surrogate pair") from None
    return value


def _why(error: ValueError) -> str:
    text = str(error)
    if "Circular" in text:
        return "it holds itself"
    if "digits" in text:
        return "it has a number of too many digits"
    return "it has a number that JSON does not have, such as NaN"


def _refuse(value: Any) -> Any:
    raise NotJsonError(f"it holds a Python {type(value).__qualname__}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise NotJsonError("it has two keys that are one as text")
    return value


def _python_value(value: Any) -> Any:
    try:
        return json_text(value)
    except TypeError:
        return _refuse(value)
    except ValueError as error:
        raise NotJsonError(str(error)) from None


def json_text(value: Any) -> Any:
    """One of Python's values as the text of the format that JSON Schema has for it.

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


_encode_python = json.JSONEncoder(
    allow_nan=False, ensure_ascii=False, default=_python_value
).encode
_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=_refuse).encode
_decode = json.JSONDecoder(object_pairs_hook=_unique).decode
