"""JSON as it is written: the order of keys, and numbers by their spelling.

The values are those of the `json` module. A number that Python would spell in another way
(`1E3`, `-0`, `1.10`, `1e400`) is a `SpelledNumber`, a float that keeps its text.
RFC 8259 for the grammar; `NaN` and `Infinity` are no JSON.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, NoReturn

_MOST_DIGITS = 4_000
_MOST_LEVELS = 320
_STRING_OR_WORD = r'"(?:[^"\\]|\\.)*+"|[-+.\w]+'


class JsonError(ValueError):
    """Text that is not valid JSON; the message has the reason.

    Attributes:
        line: where, counted from 1.
        column: in the line, counted from 1.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class SpelledNumber(float):
    """A number that has a spelling of its own.

    Attributes:
        spelling: its text in JSON.
    """

    __slots__ = ("spelling",)
    spelling: str

    def __init__(self, spelling: str) -> None:
        self.spelling = spelling

    def __reduce__(self) -> tuple[type[SpelledNumber], tuple[str]]:
        return SpelledNumber, (self.spelling,)


def read_json(data: bytes | str) -> tuple[Any, tuple[str, ...]]:
    """The value of a JSON text, and the keys that an object in it has twice.

    Of a key that an object has twice the last value is kept, as everywhere.

    Raises:
        JsonError: it is no JSON, not UTF-8, or too deep to be read.
    """
    twice: dict[str, None] = {}

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    twice[key] = None
                seen.add(key)
        return made

    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        value = json.loads(
            text,
            object_pairs_hook=members,
            parse_float=_decimal,
            parse_int=_whole,
            parse_constant=_no_number,
        )
    except UnicodeDecodeError as error:
        before = data[: error.start] if isinstance(data, bytes) else b""
        line = before.count(b"\n") + 1
        column = error.start - before.rfind(b"\n")
        raise JsonError("a byte that is no UTF-8", line, column) from None
    except json.JSONDecodeError as error:
        raise JsonError(error.msg, error.lineno, error.colno) from None
    except _RejectedTokenError as refused:
        raise refused.at(text) from None
    except RecursionError:
        raise JsonError("it is nested too deep to be read") from None
    if not _is_flat(value):
        raise JsonError(f"it is nested deeper than {_MOST_LEVELS} levels")
    return value, tuple(twice)


def _is_flat(value: Any) -> bool:
    level: list[Any] = [[value]]
    for _ in range(_MOST_LEVELS):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return True
    return False


def _decimal(text: str) -> float:
    number = float(text)
    return number if float.__repr__(number) == text else SpelledNumber(text)


def _whole(text: str) -> int | float:
    if len(text) > _MOST_DIGITS:
        raise _RejectedTokenError(text, f"a number of {len(text):,} digits")
    return int(text) if text != "-0" else SpelledNumber(text)


def _no_number(word: str) -> NoReturn:
    raise _RejectedTokenError(word, f"`{word}` is no JSON")


class _RejectedTokenError(ValueError):
    """Token that the JSON parser reads but Toolcast rejects, without its position yet."""

    def __init__(self, word: str, message: str) -> None:
        super().__init__(message)
        self.word = word

    def at(self, text: str) -> JsonError:
        """The problem, at the first place of the word outside of strings."""
        for found in re.finditer(_STRING_OR_WORD, text):
            if found[0] == self.word:
                before = text[: found.start()]
                column = found.start() - before.rfind("\n")
                return JsonError(str(self), before.count("\n") + 1, column)
        return JsonError(str(self))


def plain(value: Any) -> Any:
    """The value without spellings, for libraries that take Python's own floats alone.

    A number beyond them becomes the largest of them.
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, SpelledNumber):
        return value
    most = sys.float_info.max
    return min(max(float(value), -most), most)


def exact_text(value: Any) -> str:
    """A value of `read_json` as JSON on one line, every number by its spelling.

    Two values are the same JSON, order of keys included, where their texts are.
    """
    if isinstance(value, dict):
        inner = ",".join(
            f"{json.dumps(key)}:{exact_text(item)}" for key, item in value.items()
        )
        return f"{{{inner}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(exact_text, value))}]"
    return value.spelling if isinstance(value, SpelledNumber) else json.dumps(value)
