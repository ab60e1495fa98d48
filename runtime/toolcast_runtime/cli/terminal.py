"""What a command does with its process: the person at the terminal, its end, what it prints.

Commands are typed by agents, too. So a question goes to the terminal of the process and its
answer comes from there: no option, no input that is piped in, and nothing that was typed before
the question was shown. Where the process has no terminal nobody is asked.

What is printed of an answer is read by agents and scripts: a result as it is, as JSON. Needs
`click`.
"""

from __future__ import annotations

import base64
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

import click

from ..core.calls.untrusted_text import escape_excerpt, escape_unprintable, redact_text
from ..core.calls.worker_threads import run_in_thread, run_sync
from ..core.context import DeclinedError, ToolResponse
from ..core.question import Answer, Question
from ..core.registry import Registry
from ..core.safe_folder import Folder
from ..core.validation.checker import Checker

_TERMINAL = "/dev/tty"
_MAX_ATTEMPTS = 3
"""Attempts to enter a valid value."""
_MAX_LINE_BYTES = 4096
"""Bytes of a line that the user enters."""
_MAX_PROGRESS_CHARACTERS = 78
"""Width of the progress line."""


async def ask_at_terminal(question: Question) -> Answer:
    """What the person types; as `AskUser`."""
    # In a thread that does not keep an interrupted process from ending.
    outcome: tuple[Answer, BaseException | None]
    outcome = await run_in_thread(lambda: _asked(question))
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
        raise DeclinedError(
            f"`{question.tool}` has to ask the user first, and there is no terminal at"
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
        self._print(
            "\n".join(["", *map(escape_unprintable, question.message.split("\n"))])
        )
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
        title = escape_unprintable(str(schema.get("title", name)))
        if "description" in schema:
            self._print(escape_unprintable(str(schema["description"])))
        hint = _hint(schema)
        for _ in range(_MAX_ATTEMPTS):
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
        while not typed.endswith(b"\n") and len(typed) < _MAX_LINE_BYTES:
            part = os.read(self._number, _MAX_LINE_BYTES)
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
    choices = escape_unprintable(", ".join(words))
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
            line += f"  {escape_excerpt(redact_text(message[:1000], self._secrets))}"
        line = line.encode("ascii", "backslashreplace").decode("ascii")
        line = line[:_MAX_PROGRESS_CHARACTERS]
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


OUTPUT = "toolcast.output"
"""Where click's context has the file that `--output` names."""


def output_option() -> click.Option:
    """The option that names a file for what an answer has that is no text."""
    return click.Option(
        ["--output"],
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write the image, sound or file of the answer to this new file.",
        expose_value=False,
        callback=_output_to,
    )


def _output_to(ctx: click.Context, param: click.Parameter, file: str | None) -> None:
    if file is not None and os.path.lexists(file):
        # Said before the tool does its work.
        raise click.BadParameter(f"{file} is there already", ctx, param)
    ctx.meta[OUTPUT] = file


def print_answer(response: ToolResponse, output: str | None = None) -> None:
    """Prints a result to stdout, or an error to stderr, which ends the program.

    Of content blocks it prints texts and links, and of others what they are.

    Args:
        response: the tool's answer.
        output: a new file for the first image, sound or file of the answer.
    """
    blocks = response.content or ()
    files = [one for one in blocks if one["type"] in ("image", "audio", "resource")]
    if response.error is not None:
        for block in blocks:
            if block["type"] != "text":
                echo(_shown(block), err=True)
        _fail(response.error)
    if response.result is None:
        for block in blocks:
            echo(_shown(block))
    else:
        echo(_result(response.result))
    if response.note is not None:
        echo(response.note, err=True)
    if output is not None:
        _write(files, output)
    elif any("text" not in held_by(block) for block in files):
        echo("`--output FILE` before the command writes what is no text", err=True)


def _result(value: Any) -> str:
    if isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=2)
    return text


def _shown(block: Mapping[str, Any]) -> str:
    if block["type"] == "resource_link":
        return f"{block.get('title') or block['name']}: {block['uri']}"
    held = held_by(block)
    if "text" in held:
        return str(held["text"])
    name = unquote(urlsplit(held.get("uri", "")).path.rpartition("/")[2])
    size = len(base64.b64decode(encoded_of(block)))
    parts = [name, held.get("mimeType", block["type"]), f"{size} bytes"]
    return f"[{', '.join(filter(None, parts))}]"


def _write(files: Sequence[Mapping[str, Any]], output: str) -> None:
    if not files:
        _fail("the answer has no image, sound or file")
    held = held_by(files[0])
    if "text" in held:
        data = str(held["text"]).encode("utf-8")
    else:
        data = base64.b64decode(encoded_of(files[0]))
    above, name = os.path.split(output)
    try:
        with Folder.open_path(above or ".") as folder:
            folder.write(name, data, is_new=True)
    except OSError as error:
        _fail(f"{output}: {error.strerror or type(error).__name__}")


def _fail(why: str) -> NoReturn:
    echo(f"error: {why}", err=True)
    sys.exit(1)


def held_by(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """What has the block's text or data: a file's resource, else the block itself."""
    held = block.get("resource", block)
    return held if isinstance(held, Mapping) else {}


def encoded_of(block: Mapping[str, Any]) -> Any:
    """The base64 of an image, sound or file; of a stranger's block whatever stands there."""
    held = held_by(block)
    return held.get("blob", held.get("data"))


def echo(text: str, *, err: bool = False) -> None:
    """Prints a line; what the stream cannot show becomes an escape.

    The tool has done its work by now.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=err)
