"""Build the confirmation question of a tool call from the tool's `confirm` settings."""

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

_APPROVAL_FIELD = "approve"
"""The form field that must be true to confirm; a form sent unchanged confirms nothing."""

_FORM = {
    "type": "object",
    "properties": {
        _APPROVAL_FIELD: {
            "type": "boolean",
            "title": "Approve",
            "description": "Whether this call may be made, once.",
        }
    },
    "required": [_APPROVAL_FIELD],
}
# Lookarounds and backreferences, which only a backtracking matcher can match.
_BACKTRACKING_SYNTAX = re.compile(r"\(\?[=!<>]|\\[1-9k]")
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_MAX_SHOWN_CHARACTERS = 500
"""Maximum number of characters of one string argument in a confirmation message."""
_MAX_MESSAGE_CHARACTERS = 8_000
"""Maximum length of a confirmation message; a call with a longer message is declined."""


def is_confirmation_needed(
    confirm: Confirm,
    checkers: dict[str, Checker | None],
    arguments: Mapping[str, Any],
) -> bool:
    """Return whether a call needs confirmation; True if the condition cannot be checked.

    Args:
        confirm: the tool's `confirm` settings.
        checkers: a cache of compiled conditions, updated in place.
        arguments: the call's validated arguments.
    """
    if confirm.when is None:
        return True
    key = json.dumps(confirm.when)
    if key not in checkers:
        checkers[key] = _build_checker(confirm.when)
    checker = checkers[key]
    # `matches` returns None if the check was aborted; the call then needs a confirmation.
    return checker is None or checker.matches(arguments) is not False


def has_backtracking_pattern(condition: Any) -> bool:
    """Return whether a condition has a pattern that is matched by backtracking.

    Such a match is aborted at a step limit and then counts as "does not match", so a caller
    could choose a string that avoids the confirmation.
    """
    return any(map(_BACKTRACKING_SYNTAX.search, _list_patterns(condition)))


def _list_patterns(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(pattern := schema.get("pattern"), str):
            yield pattern
        if isinstance(patterns := schema.get("patternProperties"), Mapping):
            yield from patterns
    if isinstance(schema, (Mapping, list)):
        for part in schema.values() if isinstance(schema, Mapping) else schema:
            yield from _list_patterns(part)


def _build_checker(condition: Any) -> Checker | None:
    """Return a validator of a condition; None if the condition cannot be checked safely.

    That is so if it is not a valid schema or has a pattern that needs backtracking: a caller
    could choose an argument that aborts the match.
    """
    try:
        return None if has_backtracking_pattern(condition) else Checker(condition)
    except ValueError:
        return None


def build_question(
    tool: str, confirm: Confirm, arguments: Mapping[str, Any]
) -> Question:
    """Build the confirmation question: the spec's message, the tool and all arguments.

    Raises:
        DeclinedError: the message is too long to be shown to a user.
    """
    lines = [confirm.message, "", f"{escape_unprintable(tool)}:"]
    lines += [
        f"- {escape_unprintable(name)}: {_format_value(arguments[name])}"
        for name in arguments
    ]
    # Without arguments, no colon follows the tool's name.
    if not arguments:
        lines[-1] = escape_unprintable(tool)
    message = _validate_length("\n".join(lines))
    return Question(
        "confirm", message, _FORM, tool, copy_arguments(arguments), _APPROVAL_FIELD
    )


def copy_arguments(value: Any) -> Any:
    """Return a deep copy of JSON arguments.

    The call runs with the arguments that the user saw, even if the original object is
    changed while the user reads the question.
    """
    if isinstance(value, Mapping):
        return {name: copy_arguments(item) for name, item in value.items()}
    return (
        [copy_arguments(item) for item in value] if isinstance(value, list) else value
    )


def escape_message(message: str) -> str:
    """Return a handler's message with unprintable characters escaped in each line.

    The message can contain arguments of the call, which could otherwise hide text.

    Raises:
        DeclinedError: the message is too long to be shown to a user.
    """
    lines = message.split("\n")
    return _validate_length("\n".join(escape_unprintable(line) for line in lines))


def _validate_length(message: str) -> str:
    if len(message) > _MAX_MESSAGE_CHARACTERS:
        raise DeclinedError(
            "the call needs the user's answer, but the question is too long to be shown;"
            " nothing was done"
        )
    return message


def _format_value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return escape_unprintable(_JSON_STRING.sub(_shorten_string, text))


def _shorten_string(match: re.Match[str]) -> str:
    """Return a JSON string; a long one is cut, with the number of omitted characters."""
    if len(match[0]) <= _MAX_SHOWN_CHARACTERS:
        return match[0]
    # The limit applies to the string, which is shorter than its JSON text with escapes.
    value = json.loads(match[0])
    omitted = len(value) - _MAX_SHOWN_CHARACTERS
    if omitted <= 0:
        return match[0]
    start = json.dumps(value[:_MAX_SHOWN_CHARACTERS], ensure_ascii=False)
    return f"{start} ... and {omitted:,} more characters"
