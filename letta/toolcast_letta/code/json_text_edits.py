"""Edit a JSON text in place; everything except the edited value remains unchanged.

Order, spacing, escapes, number formats and unknown keys are preserved, because only the
edited value is encoded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


class InvalidJsonError(Exception):
    """A text that is not valid JSON; the message has the position and the reason."""


@dataclass(frozen=True)
class Member:
    """The position of an object's member or of an array's element in the text.

    Attributes:
        key: the member's key; empty for an element.
        begin: the index of the key; for an element, of the value.
        start: the index of the value.
        end: the index after the value.
    """

    key: str
    begin: int
    start: int
    end: int


def parse_json(text: str) -> Any:
    """Parse a JSON text.

    Raises:
        InvalidJsonError: the text is not valid, or an object has a key twice: every
            parser drops one of the values.
    """

    def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InvalidJsonError(f"the key `{twice}` occurs twice in an object")
        return value

    def refuse(constant: str) -> Any:
        raise InvalidJsonError(f"`{constant}` is not valid JSON")

    if text.startswith("\ufeff"):
        raise InvalidJsonError("it begins with a byte order mark")
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise InvalidJsonError(f"{position}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidJsonError(f"it cannot be read: {error}") from None


def list_members(text: str, start: int = 0) -> list[Member]:
    """Return the members of the object at an index of a valid text, in order."""
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
    """Return the elements of the array at an index of a valid text, in order."""
    result = []
    at = _skip_opening(text, start)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        result.append(Member("", at, at, end))
        at = _skip_comma(text, end)
    return result


def set_member(text: str, start: int, key: str, value: Any) -> str:
    """Return the text with a member of the object at `start` set; a new one is last."""
    existing = list_members(text, start)
    for member in existing:
        if member.key == key:
            formatted = _format_value(value, text, member.start)
            return text[: member.start] + formatted + text[member.end :]
    return _insert(text, start, existing, f"{json.dumps(key)}: ", value)


def append_element(text: str, start: int, value: Any) -> str:
    """Return the text with an element appended to the array at `start`."""
    return _insert(text, start, list_elements(text, start), "", value)


def replace_element(text: str, start: int, index: int, value: Any) -> str:
    """Return the text with an element of the array at `start` replaced."""
    element = list_elements(text, start)[index]
    formatted = _format_value(value, text, element.start)
    return text[: element.start] + formatted + text[element.end :]


def remove_element(text: str, start: int, index: int) -> str:
    """Return the text without an element of the array at `start`."""
    existing = list_elements(text, start)
    element = existing[index]
    # The comma before the element, or after the first one, is removed, too.
    if index > 0:
        return text[: existing[index - 1].end] + text[element.end :]
    if len(existing) > 1:
        return text[: element.start] + text[existing[1].start :]
    return text[: _skip_space(text, start) + 1] + text[_skip_comma(text, element.end) :]


def _insert(
    text: str, start: int, existing: Sequence[Member], label: str, value: Any
) -> str:
    if existing:
        # The new item gets the white space that precedes the last one.
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
    """Return a value as JSON, indented like the line at an index of the text."""
    unit = _detect_indent(text)
    if not unit:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=unit)
    outer = _get_line_indent(text, near) + deeper * unit
    return lines.replace("\n", _detect_newline(text) + outer)


def _detect_indent(text: str) -> str:
    """Return the indentation unit of the text; empty if it is on one line."""
    for line in text.splitlines()[1:]:
        inside = line.lstrip(" \t")
        if inside and inside != line:
            return line[: len(line) - len(inside)]
    # A text on one line stays so, unless it is an empty object.
    return "  " if _skip_opening(text, 0) == len(text.rstrip(_SPACE)) - 1 else ""


def _get_line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _detect_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _skip_opening(text: str, start: int) -> int:
    """Return the index of the first key or value of an object or array, or of its end."""
    return _skip_space(text, _skip_space(text, start) + 1)


def _skip_comma(text: str, end: int) -> int:
    at = _skip_space(text, end)
    return _skip_space(text, at + 1) if text[at] == "," else at


def _skip_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
