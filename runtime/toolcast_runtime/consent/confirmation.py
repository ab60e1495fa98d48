"""The question of a tool that asks before it does its work, as its spec has it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..tools.tool import Confirm
from ..validation.checker import Checker
from .question import Declined, Question

__all__ = ["confirmation", "is_needed", "may_give_up"]

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
# Look-around and back references, in JSON.
_TRIED = re.compile(r"\(\?[=!<>]|\\\\[1-9k]")
_MOST_SHOWN = 500
_MOST_CHARACTERS = 8_000


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
    return _TRIED.search(json.dumps(condition)) is not None


def _checker(condition: Any) -> Checker | None:
    try:
        return None if may_give_up(condition) else Checker(condition)
    except ValueError:
        return None


def confirmation(tool: str, confirm: Confirm, arguments: Mapping[str, Any]) -> Question:
    """What the person is asked: the spec's message, and below it what would be called.

    Raises:
        Declined: the arguments are too much for a person to read.
    """
    lines = [confirm.message, "", f"{shown(tool)}:"]
    lines += [f"- {shown(name)}: {_value(arguments[name])}" for name in arguments]
    if not arguments:
        lines[-1] = shown(tool)
    message = "\n".join(lines)
    if len(message) > _MOST_CHARACTERS:
        raise Declined(
            "the call needs a person's approval, and its arguments are too long to be"
            " shown; nothing was done"
        )
    return Question("confirm", message, _FORM, tool, arguments, _FIELD)


def _value(value: Any) -> str:
    text = shown(json.dumps(value, ensure_ascii=False))
    left = len(text) - _MOST_SHOWN
    return (
        f"{text[:_MOST_SHOWN]} ... and {left:,} more characters" if left > 0 else text
    )


def shown(text: str) -> str:
    """The text on one line; what is not seen, or turns the line round, is spelled out."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in text
    )
