"""Questions at the terminal, progress, and the output of a command.

Agents use the command line, too, and must not answer questions. A question is therefore written to
the process's terminal, and only text that is typed there afterwards is an answer: not options, piped
input or earlier input. Without a terminal no user can be asked.

Results are printed unchanged, as JSON, because agents and scripts read them. Needs `click`.
"""

from __future__ import annotations

import atexit
import base64
import errno
import json
import math
import os
import signal
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
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

_TERMINAL_PATH = "/dev/tty"
_MAX_ATTEMPTS = 3
"""Maximum number of attempts to enter a valid value."""
_MAX_LINE_BYTES = 4096
"""Maximum size of a line that the user enters."""
_MAX_PROGRESS_CHARACTERS = 78
"""Maximum width of the progress line."""
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Error numbers that mean that the disk behind stdout is full or broken."""


async def ask_at_terminal(question: Question) -> Answer:
    """Ask the user at the terminal, as an `AskUser`."""
    # Read in a daemon thread, which does not prevent an interrupted process from exiting.
    outcome: tuple[Answer, BaseException | None]
    outcome = await run_in_thread(lambda: _ask(question))
    answer, error = outcome
    if error is not None:
        raise error
    return answer


def has_terminal() -> bool:
    """Return whether the process has a terminal, so that a user can be asked."""
    descriptor = _open_terminal()
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is not None


def _open_terminal() -> int | None:
    try:
        return os.open(_TERMINAL_PATH, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, AttributeError):
        # There is no terminal. On Windows neither the file nor the flags exist.
        return None


def _ask(question: Question) -> Answer:
    descriptor = _open_terminal()
    if descriptor is None:
        raise DeclinedError(
            f"`{question.tool}` has to ask the user first, and there is no terminal;"
            " nothing was done"
        )
    try:
        return _Terminal(descriptor).ask(question)
    finally:
        os.close(descriptor)


class _Terminal:
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def ask(self, question: Question) -> Answer:
        self._print(
            "\n".join(["", *map(escape_unprintable, question.message.split("\n"))])
        )
        if question.approval is not None:
            line = self._read_line("Type yes to approve, anything else to decline: ")
            if line is None:
                return Answer("cancel")
            is_approved = line == "yes"
            content: dict[str, Any] = {question.approval: is_approved}
            return Answer("accept" if is_approved else "decline", content)
        required = question.schema.get("required", ())
        content = {}
        for name, schema in question.schema["properties"].items():
            is_answered, value = self._ask_field(name, schema, name in required)
            if not is_answered:
                return Answer("cancel")
            if value is not None:
                content[name] = value
        return Answer("accept", content)

    def _ask_field(
        self, name: str, schema: Mapping[str, Any], is_required: bool
    ) -> tuple[bool, Any]:
        """Ask for one field; return (is_answered, value).

        `is_answered` is False at the end of input or after three invalid values. The value is
        the default, or None, if the user enters nothing.
        """
        title = escape_unprintable(str(schema.get("title", name)))
        if "description" in schema:
            self._print(escape_unprintable(str(schema["description"])))
        hint = _format_hint(schema)
        for _ in range(_MAX_ATTEMPTS):
            line = self._read_line(f"{title}{f' ({hint})' if hint else ''}: ")
            if line is None:
                return False, None
            if not line and ("default" in schema or not is_required):
                return True, schema.get("default")
            value = _parse_input(schema["type"], line) if line else None
            if value is not None and not Checker(schema).problems(value):
                return True, value
            self._print("This is not a valid answer.")
        return False, None

    def _read_line(self, prompt: str) -> str | None:
        """Show a prompt and read a line from the terminal; None at the end of input."""
        import termios

        # Discard input that was typed before the prompt appears, so that it answers nothing.
        termios.tcflush(self._descriptor, termios.TCIFLUSH)
        os.write(self._descriptor, prompt.encode("utf-8", "backslashreplace"))
        line = b""
        while not line.endswith(b"\n") and len(line) < _MAX_LINE_BYTES:
            part = os.read(self._descriptor, _MAX_LINE_BYTES)
            if not part:
                return None
            line += part
        return line.decode("utf-8", "replace").strip()

    def _print(self, text: str) -> None:
        os.write(self._descriptor, f"{text}\n".encode("utf-8", "backslashreplace"))


def _format_hint(schema: Mapping[str, Any]) -> str:
    """Return text that states the accepted input of a field; "" if it accepts any text."""
    type_ = schema["type"]
    if type_ == "boolean":
        return "yes or no"
    if type_ in ("number", "integer"):
        return "a number"
    field = schema["items"] if type_ == "array" else schema
    titled_values = field.get("oneOf") or field.get("anyOf") or ()
    values = [*field.get("enum", ()), *(entry["const"] for entry in titled_values)]
    choices = escape_unprintable(", ".join(values))
    if type_ == "array":
        return f"one or more of {choices}, separated by commas"
    return choices


def _parse_input(type_: str, line: str) -> Any:
    """Convert a line of input to a field's type; return None if that is impossible."""
    if type_ == "boolean":
        return {"yes": True, "no": False}.get(line)
    if type_ in ("number", "integer"):
        try:
            return json.loads(line)
        except ValueError:
            return None
    return [item.strip() for item in line.split(",")] if type_ == "array" else line


class ProgressLine:
    """Progress display in one line of stderr; has no effect if stderr is not a terminal.

    Args:
        secrets: text that is redacted from the line.
    """

    def __init__(self, secrets: Collection[str] = ()) -> None:
        self._stream = sys.stderr if sys.stderr.isatty() else None
        self._secrets = secrets
        self._width = 0
        self.is_paused = False

    async def __call__(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Show a report instead of the previous one; ignore a progress that is not finite."""
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
        """Erase the progress line from the terminal."""
        if self._stream is not None and self._width:
            self._stream.write(f"\r{' ' * self._width}\r")
            self._stream.flush()
            self._width = 0


@contextmanager
def closing_registry(registry: Registry) -> Iterator[None]:
    """Close the registry at the end of the block, even if SIGTERM arrives in the block.

    This does not use `atexit`: closing may start threads, which is impossible by then.
    """
    # Replace the default action of SIGTERM, which would end the process without closing the
    # registry.
    replaces_handler = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if replaces_handler:
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        with redirect_handler_output():
            run_sync(registry.close())
        if replaces_handler:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def redirect_handler_output() -> Iterator[None]:
    """Redirect stdout of handlers and their child processes to stderr in the block.

    The command's stdout then contains only its result.
    """
    stdout = sys.stdout
    copy = None
    # Ignore errors: descriptors 1 or 2 may be closed, and `sys.stdout` may be None or a
    # replacement in a test.
    with suppress(OSError, ValueError, AttributeError):
        stdout.flush()
        if stdout.fileno() == 1:
            copy = os.dup(1)
            os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if copy is not None:
            # Flush output of a handler that has stored the original `sys.stdout`, while it still
            # goes to stderr.
            with suppress(OSError, ValueError):
                stdout.flush()
            os.dup2(copy, 1)
            os.close(copy)
            # Python calls the newest exit function first, so before those of handlers.
            atexit.unregister(_redirect_exit_output)
            atexit.register(_redirect_exit_output)


def _redirect_exit_output() -> None:
    """Send to stderr what handlers' exit functions print."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        os.dup2(2, 1)


@contextmanager
def report_output_errors(exit_code: int = 1) -> Iterator[None]:
    """Print an error and exit if stdout cannot be written in the block.

    This concerns only errors of the disk behind stdout; other errors are raised unchanged.
    """
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno not in _OUTPUT_ERRORS:
            raise
        # Replace stdout by /dev/null: at exit Python would try to write the rest again, and
        # print a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        with suppress(OSError):
            echo(f"error: the output cannot be written: {error.strerror}", err=True)
            echo("  help: free space on its disk, or write to another one", err=True)
        sys.exit(exit_code)


OUTPUT = "toolcast.output"
"""Key in `meta` of click's context for the file of `--output`."""


def output_option() -> click.Option:
    """Return the click option `--output`, a new file for binary content of a result."""
    return click.Option(
        ["--output"],
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write the first image, audio or file of the result to this new file.",
        expose_value=False,
        callback=_set_output_file,
    )


def _set_output_file(
    ctx: click.Context, param: click.Parameter, file: str | None
) -> None:
    if file is not None and os.path.lexists(file):
        # Reject an existing file now, before the tool is called.
        raise click.BadParameter(f"{file} already exists", ctx, param)
    ctx.meta[OUTPUT] = file


def print_answer(response: ToolResponse, output: str | None = None) -> None:
    """Print a result to stdout; print an error to stderr and exit with 1.

    Of content blocks it prints text and links, and a short description of all others.

    Args:
        response: the tool's response.
        output: a new file for the first image, audio or file of the result.
    """
    blocks = response.content or ()
    files = [
        block for block in blocks if block["type"] in ("image", "audio", "resource")
    ]
    if response.error is not None:
        for block in blocks:
            if block["type"] != "text":
                echo(_format_block(block), err=True)
        _fail(response.error)
    if response.result is None:
        for block in blocks:
            echo(_format_block(block))
    else:
        echo(_format_result(response.result))
    if response.note is not None:
        echo(response.note, err=True)
    if output is not None:
        _write_first_file(files, output)
    elif any("text" not in unwrap_resource(block) for block in files):
        echo("help: `--output FILE` before the command writes this content", err=True)


def _format_result(value: Any) -> str:
    if isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=2)
    return text


def _format_block(block: Mapping[str, Any]) -> str:
    if block["type"] == "resource_link":
        return f"{block.get('title') or block['name']}: {block['uri']}"
    resource = unwrap_resource(block)
    if "text" in resource:
        return str(resource["text"])
    name = unquote(urlsplit(resource.get("uri", "")).path.rpartition("/")[2])
    size = len(base64.b64decode(get_base64(block)))
    parts = [name, resource.get("mimeType", block["type"]), f"{size} bytes"]
    return f"[{', '.join(filter(None, parts))}]"


def _write_first_file(files: Sequence[Mapping[str, Any]], output: str) -> None:
    if not files:
        _fail("the result has no image, audio or file")
    resource = unwrap_resource(files[0])
    if "text" in resource:
        data = str(resource["text"]).encode("utf-8")
    else:
        data = base64.b64decode(get_base64(files[0]))
    parent, name = os.path.split(output)
    try:
        with Folder.open_path(parent or ".") as folder:
            folder.write(name, data, is_new=True)
    except OSError as error:
        _fail(f"{output}: {error.strerror or type(error).__name__}")


def _fail(message: str) -> NoReturn:
    echo(f"error: {message}", err=True)
    sys.exit(1)


def unwrap_resource(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the embedded resource of a content block, or the block itself without one."""
    resource = block.get("resource", block)
    return resource if isinstance(resource, Mapping) else {}


def get_base64(block: Mapping[str, Any]) -> Any:
    """Return `blob` or `data` of a block; None if missing.

    In a block of an external server this may be any value, not only base64.
    """
    resource = unwrap_resource(block)
    return resource.get("blob", resource.get("data"))


def echo(text: str, *, err: bool = False) -> None:
    """Print a line; characters that the stream cannot encode become escapes.

    Encoding must not fail at this point, because the tool has already been called.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=err)
