"""What Python gave, as the JSON value that every caller gets."""

from __future__ import annotations

import json
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
    from ...rooms.values.json_texts import json_text

    try:
        return json_text(value)
    except TypeError:
        return _refuse(value)
    except ValueError as error:
        raise NotJsonError(str(error)) from None


_encode_python = json.JSONEncoder(
    allow_nan=False, ensure_ascii=False, default=_python_value
).encode
_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=_refuse).encode
_decode = json.JSONDecoder(object_pairs_hook=_unique).decode
