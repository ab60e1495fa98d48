"""What a command does with its process: the person at the terminal, and the signal to end.

Commands are typed by agents, too. So a question goes to the terminal of the process and its
answer comes from there: no option, no input that is piped in, and nothing that was typed before
the question was shown. Where the process has no terminal nobody is asked.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ...core.calls.untrusted_text import escaped, shown, without
from ...core.calls.work import in_thread, run_sync
from ...core.context import Declined
from ...core.question import Answer, Question
from ...core.registry import Registry
from ...core.validation.checker import Checker

_TERMINAL = "/dev/tty"
_MOST_TRIES = 3
_LONGEST_LINE = 4096
_LONGEST_PROGRESS = 78


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
    number = _opened()
    if number is not None:
        os.close(number)
    return number is not None


def _opened() -> int | None:
    try:
        return os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, AttributeError):
        return None


def _asked(question: Question) -> Answer:
    number = _opened()
    if number is None:
        raise Declined(
            f"`{question.tool}` has to ask a person first, and there is no terminal at"
            " which one could answer; nothing was done"
        )
    try:
        return _Terminal(number).ask(question)
    finally:
        os.close(number)


class _Terminal:
    def __init__(self, number: int) -> None:
        self._number = number

    def ask(self, question: Question) -> Answer:
        self._print("\n".join(["", *map(shown, question.message.split("\n"))]))
        if question.approval is not None:
            typed = self._line("Type yes to approve, anything else to decline: ")
            if typed is None:
                return Answer("cancel")
            is_yes = typed == "yes"
            said = {question.approval: is_yes}
            return Answer("accept" if is_yes else "decline", said)
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
            if not typed and ("default" in schema or not is_required):
                return True, schema.get("default")
            value = _value(schema["type"], typed) if typed else None
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

    def _print(self, text: str) -> None:
        os.write(self._number, f"{text}\n".encode("utf-8", "backslashreplace"))


def _hint(schema: Mapping[str, Any]) -> str:
    """What may be typed, where that is not any text."""
    kind = schema["type"]
    if kind == "boolean":
        return "yes or no"
    if kind in ("number", "integer"):
        return "a number"
    field = schema["items"] if kind == "array" else schema
    titled = field.get("oneOf") or field.get("anyOf") or ()
    words = [*field.get("enum", ()), *(entry["const"] for entry in titled)]
    choices = shown(", ".join(words))
    return f"some of {choices}, with commas" if kind == "array" else choices


def _value(kind: str, typed: str) -> Any:
    """The value of what was typed for a field of a type; None when it is none."""
    if kind == "boolean":
        return {"yes": True, "no": False}.get(typed)
    if kind in ("number", "integer"):
        try:
            return json.loads(typed)
        except ValueError:
            return None
    return [item.strip() for item in typed.split(",")] if kind == "array" else typed


class ProgressLine:
    """How far a call is: the newest report on one line of standard error, while one watches.

    Args:
        secrets: taken out of what is shown.
    """

    def __init__(self, secrets: Collection[str] = ()) -> None:
        self._stream = sys.stderr if sys.stderr.isatty() else None
        self._secrets = secrets
        self._width = 0
        self.is_paused = False

    async def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Shows a report in place of the one before, unless it is none, or nobody watches."""
        if self._stream is None or self.is_paused or not math.isfinite(progress):
            return
        line = f"{progress:g}"
        if total is not None and math.isfinite(total) and total > 0:
            line += f" of {total:g} ({min(progress / total, 1):.0%})"
        if message:
            line += f"  {escaped(without(message[:1000], self._secrets))}"
        line = line.encode("ascii", "backslashreplace").decode("ascii")
        line = line[:_LONGEST_PROGRESS]
        self._stream.write(f"\r{line.ljust(self._width)}")
        self._stream.flush()
        self._width = len(line)

    def clear(self) -> None:
        """Takes the line away."""
        if self._stream is not None and self._width:
            self._stream.write(f"\r{' ' * self._width}\r")
            self._stream.flush()
            self._width = 0


@contextmanager
def closing(registry: Registry) -> Iterator[None]:
    """Closes the registry afterwards, also when SIGTERM asks the process to end.

    Not left to `atexit`: threads cannot be started by then, which an end may have to do.
    """
    # By itself the signal would end the process at once.
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if is_ours:
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        run_sync(registry.close())
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
