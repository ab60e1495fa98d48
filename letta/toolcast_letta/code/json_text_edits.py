"""Edits a JSON text in place: everything but the edited value stays as it was written.

Order, spacing, escapes, the lexemes of numbers and unknown keys survive, because they are
never written anew.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


class InvalidJsonError(Exception):
    """Text that is not the expected JSON; the message has the position and the reason."""


@dataclass(frozen=True)
class Member:
    """A member of an object, or an element of an array.

    Attributes:
        key: its key; empty for an element.
        begin: where the key begins; the same as `start` for an element.
        start: where the value begins.
        end: where it has ended.
    """

    key: str
    begin: int
    start: int
    end: int


def parse_json(text: str) -> Any:
    """The value of a text.

    Raises:
        InvalidJsonError: with line and column where there is one; also for a key that stands twice
            in one object, of which every reader loses one.
    """

    def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InvalidJsonError(f"the key `{twice}` stands twice in one object")
        return value

    def refuse(word: str) -> Any:
        raise InvalidJsonError(f"`{word}` is no JSON")

    if text.startswith("\ufeff"):
        raise InvalidJsonError("it begins with a byte order mark")
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidJsonError(f"{place}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidJsonError(f"it cannot be read: {error}") from None


def list_members(text: str, start: int = 0) -> list[Member]:
    """The members of the object that begins at `start` of a valid text, in order."""
    result = []
    at = _skip_opening(text, start)
    while text[at] != "}":
        key, behind = _DECODER.raw_decode(text, at)
        value = _skip_space(text, _skip_space(text, behind) + 1)
        _, end = _DECODER.raw_decode(text, value)
        result.append(Member(key, at, value, end))
        at = _skip_comma(text, end)
    return result


def list_elements(text: str, start: int) -> list[Member]:
    """The elements of the array that begins at `start` of a valid text, in order."""
    result = []
    at = _skip_opening(text, start)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        result.append(Member("", at, at, end))
        at = _skip_comma(text, end)
    return result


def set_member(text: str, start: int, key: str, value: Any) -> str:
    """The text with one member of the object at `start` set, behind the others if new."""
    existing = list_members(text, start)
    for member in existing:
        if member.key == key:
            formatted = _format_value(value, text, member.start)
            return text[: member.start] + formatted + text[member.end :]
    return _insert(text, start, existing, f"{json.dumps(key)}: ", value)


def append_element(text: str, start: int, value: Any) -> str:
    """The text with one more element at the end of the array at `start`."""
    return _insert(text, start, list_elements(text, start), "", value)


def replace_element(text: str, start: int, index: int, value: Any) -> str:
    """The text with an element of the array at `start` replaced."""
    element = list_elements(text, start)[index]
    formatted = _format_value(value, text, element.start)
    return text[: element.start] + formatted + text[element.end :]


def remove_element(text: str, start: int, index: int) -> str:
    """The text without an element of the array at `start`."""
    existing = list_elements(text, start)
    element = existing[index]
    if index > 0:
        return text[: existing[index - 1].end] + text[element.end :]
    if len(existing) > 1:
        return text[: element.start] + text[existing[1].start :]
    return text[: _skip_space(text, start) + 1] + text[_skip_comma(text, element.end) :]


def _insert(
    text: str, start: int, existing: Sequence[Member], label: str, value: Any
) -> str:
    if existing:
        # Laid out as the last one is: what stands in front of it goes before the new one.
        last = existing[-1]
        space = last.begin - len(text[: last.begin].rstrip(_SPACE))
        before = text[last.begin - space : last.begin]
        formatted = _format_value(value, text, last.start)
        return f"{text[: last.end]},{before}{label}{formatted}{text[last.end :]}"
    opening = _skip_space(text, start)
    unit, outer, newline = (
        _detect_indent(text),
        _get_line_indent(text, opening),
        _detect_newline(text),
    )
    closing = _skip_opening(text, start)
    formatted = label + _format_value(value, text, opening, deeper=1)
    if unit:
        formatted = f"{newline}{outer}{unit}{formatted}{newline}{outer}"
    return text[: opening + 1] + formatted + text[closing:]


def _format_value(value: Any, text: str, near: int, deeper: int = 0) -> str:
    """A value laid out as the text is, for a line that is indented as the one of `near`."""
    unit = _detect_indent(text)
    if not unit:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=unit)
    outer = _get_line_indent(text, near) + deeper * unit
    return lines.replace("\n", _detect_newline(text) + outer)


def _detect_indent(text: str) -> str:
    """What the text indents by, which its first indented line shows; empty for one line."""
    for line in text.splitlines()[1:]:
        inside = line.lstrip(" \t")
        if inside and inside != line:
            return line[: len(line) - len(inside)]
    return "  " if _skip_opening(text, 0) == len(text.rstrip(_SPACE)) - 1 else ""


def _get_line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _detect_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _skip_opening(text: str, start: int) -> int:
    """Where the first thing inside of an object or array is, or its end."""
    return _skip_space(text, _skip_space(text, start) + 1)


def _skip_comma(text: str, end: int) -> int:
    at = _skip_space(text, end)
    return _skip_space(text, at + 1) if text[at] == "," else at


def _skip_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
