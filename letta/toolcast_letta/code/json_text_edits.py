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
    """Text that is not valid JSON; the message has the reason."""


@dataclass(frozen=True)
class Member:
    """A member of an object, or an element of an array, located in the text.

    Attributes:
        key: the member's key; empty for an element.
        begin: the index of the key's opening quote; for an element, of the value.
        start: the index of the value.
        end: the index after the value.
    """

    key: str
    begin: int
    start: int
    end: int


def parse_json(text: str) -> Any:
    """Parse a JSON text strictly.

    Raises:
        InvalidJsonError: the text is not valid JSON, begins with a byte order mark, is
            nested too deeply, or has an object with the same key twice, of which
            parsers drop one value.
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
    """Return the members of a JSON object in order, with their positions.

    Args:
        text: valid JSON text.
        start: the index of the object, or of white space before it.
    """
    result = []
    at = _skip_opening(text, start)
    while text[at] != "}":
        # `raw_decode` also returns the index after the value, which `json.loads` does
        # not.
        key, behind = _DECODER.raw_decode(text, at)
        value = _skip_space(text, _skip_space(text, behind) + 1)
        _, end = _DECODER.raw_decode(text, value)
        result.append(Member(key, at, value, end))
        at = _skip_comma(text, end)
    return result


def list_elements(text: str, start: int) -> list[Member]:
    """Return the elements of a JSON array in order, with their positions.

    Args:
        text: valid JSON text.
        start: the index of the array, or of white space before it.
    """
    result = []
    at = _skip_opening(text, start)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        result.append(Member("", at, at, end))
        at = _skip_comma(text, end)
    return result


def set_member(text: str, start: int, key: str, value: Any) -> str:
    """Return the text with a member of the object at `start` set.

    An existing value is replaced in place; a new member is the last one.
    """
    existing = list_members(text, start)
    for member in existing:
        if member.key == key:
            formatted = _format_value(value, text, member.start)
            return text[: member.start] + formatted + text[member.end :]
    return _insert(text, start, existing, f"{json.dumps(key)}: ", value)


def append_element(text: str, start: int, value: Any) -> str:
    """Return the text with an element appended to the array at index `start`."""
    return _insert(text, start, list_elements(text, start), "", value)


def replace_element(text: str, start: int, index: int, value: Any) -> str:
    """Return the text with an element of the array at index `start` replaced."""
    element = list_elements(text, start)[index]
    formatted = _format_value(value, text, element.start)
    return text[: element.start] + formatted + text[element.end :]


def remove_element(text: str, start: int, index: int) -> str:
    """Return the text without an element of the array at index `start`.

    A comma next to the element is removed, too.
    """
    existing = list_elements(text, start)
    element = existing[index]
    # With an element, the comma before it is removed; with the first one, the comma
    # after it.
    if index > 0:
        return text[: existing[index - 1].end] + text[element.end :]
    if len(existing) > 1:
        return text[: element.start] + text[existing[1].start :]
    return text[: _skip_space(text, start) + 1] + text[_skip_comma(text, element.end) :]


def _insert(
    text: str, start: int, existing: Sequence[Member], label: str, value: Any
) -> str:
    """Return the text with an item added at the end of an object or array.

    Args:
        text: the text.
        start: the index of the object or array.
        existing: its members or elements.
        label: the text before the value: the key and a colon, or empty.
        value: the new value.
    """
    if existing:
        # The new item is separated like the last existing one, so the layout of the
        # text remains.
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
    """Return a value as JSON, indented like the line at an index of the text.

    Args:
        value: the value.
        text: the text; its indentation and line ends are used.
        near: the index whose line has the indentation.
        deeper: the number of additional levels of indentation.
    """
    unit = _detect_indent(text)
    if not unit:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=unit)
    outer = _get_line_indent(text, near) + deeper * unit
    return lines.replace("\n", _detect_newline(text) + outer)


def _detect_indent(text: str) -> str:
    """Return the white space of one indentation level, from the first indented line.

    Empty for a text on one line, except for two spaces for an empty object.
    """
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
