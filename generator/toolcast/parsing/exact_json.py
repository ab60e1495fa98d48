"""Read and write JSON without loss: order of keys, and numbers exactly as written.

Values have the types of the `json` module. A number that Python would write differently
(`1E3`, `-0`, `1.10`, `1e400`) becomes a `SpelledNumber`, a float that keeps its text. The
grammar is that of RFC 8259, so that `NaN` and `Infinity` are errors.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, NoReturn

_MAX_DIGITS = 4_000
"""The maximum number of characters of an integer."""
_MAX_LEVELS = 320
"""The maximum number of levels of nested arrays and objects."""
# Strings are matched as a whole, so that a number or constant inside a string is
# skipped.
_STRING_OR_WORD = r'"(?:[^"\\]|\\.)*+"|[-+.\w]+'


class JsonError(ValueError):
    """Text that is not valid JSON.

    Attributes:
        line: 1-based line of the error.
        column: 1-based column of the error.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class SpelledNumber(float):
    """A float that keeps the text that it was read from.

    Attributes:
        spelling: the number's text in JSON.
    """

    __slots__ = ("spelling",)
    spelling: str

    def __init__(self, spelling: str) -> None:
        self.spelling = spelling

    def __reduce__(self) -> tuple[type[SpelledNumber], tuple[str]]:
        # Copies and pickled values must keep the spelling.
        return SpelledNumber, (self.spelling,)


def read_json(data: bytes | str) -> tuple[Any, tuple[str, ...]]:
    """Return the value of a JSON text, and the keys that an object has twice.

    The last value of a duplicate key is used, as in the `json` module.

    Raises:
        JsonError: `data` is not JSON or not UTF-8, is nested too deeply, or has an
            integer with too many digits.
    """
    duplicates: dict[str, None] = {}

    def build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            keys: set[str] = set()
            for key, _ in pairs:
                if key in keys:
                    duplicates[key] = None
                keys.add(key)
        return result

    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        value = json.loads(
            text,
            object_pairs_hook=build_object,
            parse_float=_parse_decimal,
            parse_int=_parse_integer,
            parse_constant=_reject_constant,
        )
    except UnicodeDecodeError as error:
        before = data[: error.start] if isinstance(data, bytes) else b""
        line = before.count(b"\n") + 1
        column = error.start - before.rfind(b"\n")
        raise JsonError("a byte is not UTF-8", line, column) from None
    except json.JSONDecodeError as error:
        raise JsonError(error.msg, error.lineno, error.colno) from None
    except _RejectedTokenError as refused:
        raise refused.locate(text) from None
    except RecursionError:
        raise JsonError("the value is nested too deeply") from None
    if not _is_within_depth(value):
        raise JsonError(f"the value is nested deeper than {_MAX_LEVELS} levels")
    return value, tuple(duplicates)


def _is_within_depth(value: Any) -> bool:
    level: list[Any] = [[value]]
    for _ in range(_MAX_LEVELS + 1):
        level = [
            item
            for container in level
            for item in (
                container.values() if isinstance(container, dict) else container
            )
            if isinstance(item, dict | list)
        ]
        if not level:
            return True
    return False


def _parse_decimal(text: str) -> float:
    number = float(text)
    # A plain float is enough if Python would write the number with the same text.
    return number if float.__repr__(number) == text else SpelledNumber(text)


def _parse_integer(text: str) -> int | float:
    if len(text) > _MAX_DIGITS:
        raise _RejectedTokenError(
            text, f"a number has {len(text):,} digits; the maximum is {_MAX_DIGITS:,}"
        )
    # An int has no negative zero.
    return int(text) if text != "-0" else SpelledNumber(text)


def _reject_constant(word: str) -> NoReturn:
    raise _RejectedTokenError(word, f"`{word}` is not a JSON value")


class _RejectedTokenError(ValueError):
    """Number or constant that `json` accepts and this module rejects.

    The hooks of `json` do not know the position, so `locate` finds it afterwards.
    """

    def __init__(self, word: str, message: str) -> None:
        super().__init__(message)
        self.word = word

    def locate(self, text: str) -> JsonError:
        """Return the error at the first position of the word outside strings."""
        for match in re.finditer(_STRING_OR_WORD, text):
            if match[0] == self.word:
                before = text[: match.start()]
                column = match.start() - before.rfind("\n")
                return JsonError(str(self), before.count("\n") + 1, column)
        return JsonError(str(self))


def convert_to_floats(value: Any) -> Any:
    """Return a copy of a JSON value with floats in place of `SpelledNumber`.

    For libraries that accept only plain floats. A number out of a float's range becomes
    the largest or smallest finite float.
    """
    if isinstance(value, dict):
        return {key: convert_to_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [convert_to_floats(item) for item in value]
    if not isinstance(value, SpelledNumber):
        return value
    largest = sys.float_info.max
    return min(max(float(value), -largest), largest)


def encode_exact(value: Any) -> str:
    """Return a value of `read_json` as one line of JSON, with its exact numbers.

    Two values have equal texts if and only if they are the same JSON in the same key
    order.
    """
    if isinstance(value, dict):
        members = ",".join(
            f"{json.dumps(key)}:{encode_exact(item)}" for key, item in value.items()
        )
        return f"{{{members}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(encode_exact, value))}]"
    return value.spelling if isinstance(value, SpelledNumber) else json.dumps(value)
