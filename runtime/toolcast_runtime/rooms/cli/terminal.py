"""Asks the person at the terminal, and nobody else.

Commands are typed by agents, too. So the question goes to the terminal of the process and its
answer comes from there: no option, no input that is piped in, and nothing that was typed before
the question was shown. Where the process has no terminal nobody is asked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ...core.calls.untrusted_text import shown
from ...core.calls.work import in_thread
from ...core.context import Declined
from ...core.question import Answer, Question
from ...core.validation.checker import Checker

_TERMINAL = "/dev/tty"
_MOST_TRIES = 3
_LONGEST_LINE = 4096


async def ask_at_terminal(question: Question) -> Answer:
    """What the person types; as `AskPerson`."""
    # In a thread that does not keep an interrupted process from ending.
    outcome: tuple[Answer, BaseException | None]
    outcome = await in_thread(lambda: _asked(question))
    answer, error = outcome
    if error is not None:
        raise error
    return answer


def has_terminal() -> bool:
    """Whether there is a terminal at which a person can be asked."""
    try:
        os.close(os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except (OSError, AttributeError):
        return False
    return True


def _asked(question: Question) -> Answer:
    try:
        number = os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, AttributeError):
        raise Declined(
            f"`{question.tool}` has to ask a person first, and there is no terminal at"
            " which one could answer; nothing was done"
        ) from None
    try:
        return _Terminal(number).ask(question)
    finally:
        os.close(number)


class _Terminal:
    def __init__(self, number: int) -> None:
        self._number = number

    def ask(self, question: Question) -> Answer:
        self._print("")
        for line in question.message.split("\n"):
            self._print(shown(line))
        if question.approval is not None:
            typed = self._line("Type yes to approve, anything else to decline: ")
            if typed is None:
                return Answer("cancel")
            is_yes = typed == "yes"
            return Answer(
                "accept" if is_yes else "decline", {question.approval: is_yes}
            )
        required = question.schema.get("required", ())
        content: dict[str, Any] = {}
        for name, schema in question.schema["properties"].items():
            given, value = self._field(name, schema, name in required)
            if not given:
                return Answer("cancel")
            if value is not None:
                content[name] = value
        return Answer("accept", content)

    def _field(
        self, name: str, schema: Mapping[str, Any], is_required: bool
    ) -> tuple[bool, Any]:
        """Whether the field was dealt with, and its value; None for one left out."""
        title = shown(str(schema.get("title", name)))
        if "description" in schema:
            self._print(shown(str(schema["description"])))
        hint = _hint(schema)
        for _ in range(_MOST_TRIES):
            typed = self._line(f"{title}{f' ({hint})' if hint else ''}: ")
            if typed is None:
                return False, None
            if not typed:
                if "default" in schema:
                    return True, schema["default"]
                if not is_required:
                    return True, None
            else:
                value = _value(schema, typed)
                if value is not None and not Checker(schema).problems(value):
                    return True, value
            self._print("That is no answer to this.")
        return False, None

    def _line(self, prompt: str) -> str | None:
        """What is typed after the prompt is shown; None for the end of the input."""
        import termios

        termios.tcflush(self._number, termios.TCIFLUSH)
        os.write(self._number, prompt.encode("utf-8", "backslashreplace"))
        typed = b""
        while not typed.endswith(b"\n") and len(typed) < _LONGEST_LINE:
            part = os.read(self._number, _LONGEST_LINE)
            if not part:
                return None
            typed += part
        return typed.decode("utf-8", "replace").strip()

    def _print(self, line: str) -> None:
        os.write(self._number, f"{line}\n".encode("utf-8", "backslashreplace"))


def _choices(schema: Mapping[str, Any]) -> list[str]:
    titled = schema.get("oneOf") or schema.get("anyOf") or ()
    return [*schema.get("enum", ()), *(entry["const"] for entry in titled)]


def _hint(schema: Mapping[str, Any]) -> str:
    """What may be typed, where that is not any text."""
    if schema["type"] == "array":
        return f"some of {shown(', '.join(_choices(schema['items'])))}, with commas"
    if schema["type"] == "boolean":
        return "yes or no"
    if schema["type"] in ("number", "integer"):
        return "a number"
    return shown(", ".join(_choices(schema)))


def _value(schema: Mapping[str, Any], typed: str) -> Any:
    """The value of what was typed; None when it is none of the field's."""
    kind = schema["type"]
    if kind == "boolean":
        return {"yes": True, "no": False}.get(typed)
    if kind in ("number", "integer"):
        try:
            number = json.loads(typed)
        except ValueError:
            return None
        return number if type(number) in (int, float) else None
    if kind == "array":
        items = [item.strip() for item in typed.split(",")]
        return items if set(items) <= set(_choices(schema["items"])) else None
    choices = _choices(schema)
    return typed if not choices or typed in choices else None
