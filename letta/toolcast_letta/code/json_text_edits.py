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


def loaded(text: str) -> Any:
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


def members(text: str, start: int = 0) -> list[Member]:
    """The members of the object that begins at `start` of a valid text, in order."""
    found = []
    at = _inside(text, start)
    while text[at] != "}":
        key, behind = _DECODER.raw_decode(text, at)
        value = _after_space(text, _after_space(text, behind) + 1)
        _, end = _DECODER.raw_decode(text, value)
        found.append(Member(key, at, value, end))
        at = _next(text, end)
    return found


def elements(text: str, start: int) -> list[Member]:
    """The elements of the array that begins at `start` of a valid text, in order."""
    found = []
    at = _inside(text, start)
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        found.append(Member("", at, at, end))
        at = _next(text, end)
    return found


def with_member(text: str, start: int, key: str, value: Any) -> str:
    """The text with one member of the object at `start` set, behind the others if new."""
    there = members(text, start)
    for member in there:
        if member.key == key:
            shown = _shown(value, text, member.start)
            return text[: member.start] + shown + text[member.end :]
    return _added(text, start, there, f"{json.dumps(key)}: ", value)


def appended(text: str, start: int, value: Any) -> str:
    """The text with one more element at the end of the array at `start`."""
    return _added(text, start, elements(text, start), "", value)


def with_element(text: str, start: int, index: int, value: Any) -> str:
    """The text with an element of the array at `start` replaced."""
    element = elements(text, start)[index]
    shown = _shown(value, text, element.start)
    return text[: element.start] + shown + text[element.end :]


def without(text: str, start: int, index: int) -> str:
    """The text without an element of the array at `start`."""
    there = elements(text, start)
    element = there[index]
    if index > 0:
        return text[: there[index - 1].end] + text[element.end :]
    if len(there) > 1:
        return text[: element.start] + text[there[1].start :]
    return text[: _after_space(text, start) + 1] + text[_next(text, element.end) :]


def _added(
    text: str, start: int, there: Sequence[Member], label: str, value: Any
) -> str:
    if there:
        # Laid out as the last one is: what stands in front of it goes before the new one.
        last = there[-1]
        space = last.begin - len(text[: last.begin].rstrip(_SPACE))
        before = text[last.begin - space : last.begin]
        shown = _shown(value, text, last.start)
        return f"{text[: last.end]},{before}{label}{shown}{text[last.end :]}"
    opening = _after_space(text, start)
    unit, outer, newline = _unit(text), _indentation(text, opening), _newline(text)
    closing = _inside(text, start)
    shown = label + _shown(value, text, opening, deeper=1)
    if unit:
        shown = f"{newline}{outer}{unit}{shown}{newline}{outer}"
    return text[: opening + 1] + shown + text[closing:]


def _shown(value: Any, text: str, near: int, deeper: int = 0) -> str:
    """A value laid out as the text is, for a line that is indented as the one of `near`."""
    unit = _unit(text)
    if not unit:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=unit)
    outer = _indentation(text, near) + deeper * unit
    return lines.replace("\n", _newline(text) + outer)


def _unit(text: str) -> str:
    """What the text indents by, which its first indented line shows; empty for one line."""
    for line in text.splitlines()[1:]:
        inside = line.lstrip(" \t")
        if inside and inside != line:
            return line[: len(line) - len(inside)]
    return "  " if _inside(text, 0) == len(text.rstrip(_SPACE)) - 1 else ""


def _indentation(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _inside(text: str, start: int) -> int:
    """Where the first thing inside of an object or array is, or its end."""
    return _after_space(text, _after_space(text, start) + 1)


def _next(text: str, end: int) -> int:
    at = _after_space(text, end)
    return _after_space(text, at + 1) if text[at] == "," else at


def _after_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
