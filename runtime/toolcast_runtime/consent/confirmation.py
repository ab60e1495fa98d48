"""The question of a tool that asks before it does its work, as its spec has it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.calls.untrusted_text import escape_unprintable
from ..core.context import DeclinedError
from ..core.definitions.tool import Confirm
from ..core.question import Question
from ..core.validation.checker import Checker

_FIELD = "approve"
"""The field of the form that has to be true: a form sent without a look is no yes."""

_FORM = {
    "type": "object",
    "properties": {
        _FIELD: {
            "type": "boolean",
            "title": "Approve",
            "description": "Whether this call may be made, once.",
        }
    },
    "required": [_FIELD],
}
# Look-around and back references.
_TRIED = re.compile(r"\(\?[=!<>]|\\[1-9k]")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_MAX_SHOWN_CHARACTERS = 500
"""Characters of one argument in a confirmation."""
_MAX_MESSAGE_CHARACTERS = 8_000
"""Characters of a confirmation; a longer one is declined."""


def is_needed(
    confirm: Confirm,
    checkers: dict[str, Checker | None],
    arguments: Mapping[str, Any],
) -> bool:
    """Whether these arguments need a yes; when that cannot be told, they do.

    Args:
        confirm: what the spec says.
        checkers: the checker of each condition, which is added to.
        arguments: of the call, found valid.
    """
    if confirm.when is None:
        return True
    key = json.dumps(confirm.when)
    if key not in checkers:
        checkers[key] = _checker(confirm.when)
    checker = checkers[key]
    return checker is None or checker.matches(arguments) is not False


def may_give_up(condition: Any) -> bool:
    """Whether a pattern of a condition is matched by trying, and given up at a bound.

    Then it does not match, and a caller could choose a text for that.
    """
    return any(map(_TRIED.search, _patterns(condition)))


def _patterns(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(pattern := schema.get("pattern"), str):
            yield pattern
        if isinstance(patterns := schema.get("patternProperties"), Mapping):
            yield from patterns
    if isinstance(schema, (Mapping, list)):
        for part in schema.values() if isinstance(schema, Mapping) else schema:
            yield from _patterns(part)


def _checker(condition: Any) -> Checker | None:
    try:
        return None if may_give_up(condition) else Checker(condition)
    except ValueError:
        return None


def confirmation(tool: str, confirm: Confirm, arguments: Mapping[str, Any]) -> Question:
    """What the person is asked: the spec's message, and below it what would be called.

    Raises:
        DeclinedError: the arguments are too much for a person to read.
    """
    lines = [confirm.message, "", f"{escape_unprintable(tool)}:"]
    lines += [
        f"- {escape_unprintable(name)}: {_value(arguments[name])}" for name in arguments
    ]
    if not arguments:
        lines[-1] = escape_unprintable(tool)
    message = _short("\n".join(lines))
    return Question("confirm", message, _FORM, tool, copied(arguments), _FIELD)


def copied(value: Any) -> Any:
    """Valid arguments that nobody else can change, while a person looks at them."""
    if isinstance(value, Mapping):
        return {name: copied(each) for name, each in value.items()}
    return [copied(each) for each in value] if isinstance(value, list) else value


def readable(message: str) -> str:
    """What a handler asks, in which an argument may stand, with nothing hidden in its lines.

    Raises:
        DeclinedError: it is too much to read.
    """
    return _short("\n".join(escape_unprintable(line) for line in message.split("\n")))


def _short(message: str) -> str:
    if len(message) > _MAX_MESSAGE_CHARACTERS:
        raise DeclinedError(
            "a person has to answer first, and what they would be asked about is too long"
            " to be shown; nothing was done"
        )
    return message


def _value(value: Any) -> str:
    return escape_unprintable(
        _TEXT.sub(_beginning, json.dumps(value, ensure_ascii=False))
    )


def _beginning(text: re.Match[str]) -> str:
    """A text of JSON; of a long one what it begins with, and how much is left."""
    if len(text[0]) <= _MAX_SHOWN_CHARACTERS:
        return text[0]
    value = json.loads(text[0])
    left = len(value) - _MAX_SHOWN_CHARACTERS
    if left <= 0:
        return text[0]
    begun = json.dumps(value[:_MAX_SHOWN_CHARACTERS], ensure_ascii=False)
    return f"{begun} ... and {left:,} more characters"
