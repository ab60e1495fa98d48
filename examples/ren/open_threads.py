"""Handler of update_open_threads: a core-memory block with one thread per line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from toolcast_runtime import ToolError

from .arguments import clean_text
from .core_memory import read_block, write_block

__all__ = ["update_open_threads"]

BLOCK = "open_threads"
OPEN, CLOSED = "- [ ] ", "- [x] "


@dataclass(frozen=True, slots=True)
class Thread:
    """A line of the block."""

    text: str
    is_open: bool

    def __str__(self) -> str:
        return f"{OPEN if self.is_open else CLOSED}{self.text}"


def update_open_threads(
    *, action: Literal["add", "close", "remove"], thread: str
) -> dict[str, Any]:
    """Add, close or remove a thread; return all threads.

    Raises:
        ToolError: the text is blank or has several lines, the thread is open already,
            no or several threads match, or Letta fails.
    """
    text = clean_text(thread, "thread")
    if len(text.splitlines()) > 1:
        raise ToolError("`thread` must be one line.")
    block = read_block(BLOCK)
    threads = [_parse_line(line) for line in block.value.splitlines() if line.strip()]
    if action == "add":
        if any(item.text == text and item.is_open for item in threads):
            raise ToolError("This thread is already open.")
        threads.append(Thread(text, True))
    else:
        index = _find_thread(threads, text)
        if action == "close":
            threads[index] = replace(threads[index], is_open=False)
        else:
            del threads[index]
    write_block(block, "\n".join(str(item) for item in threads))
    return {"threads": [{"thread": t.text, "is_open": t.is_open} for t in threads]}


def _parse_line(line: str) -> Thread:
    text = line.strip()
    for mark, is_open in ((OPEN, True), (CLOSED, False)):
        if text.startswith(mark.rstrip()):
            return Thread(text.removeprefix(mark.rstrip()).strip(), is_open)
    return Thread(text.removeprefix("- "), True)


def _find_thread(threads: list[Thread], text: str) -> int:
    """Return the index of the thread with this text, or the only match of a prefix."""
    for index, item in enumerate(threads):
        if item.text == text:
            return index
    found = [i for i, item in enumerate(threads) if item.text.startswith(text)]
    if not found:
        raise ToolError(f"No thread begins with {text!r}.")
    if len(found) > 1:
        raise ToolError(
            f"{len(found)} threads begin with {text!r}; use a longer beginning."
        )
    return found[0]
