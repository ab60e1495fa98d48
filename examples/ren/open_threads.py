"""`update_open_threads`: one thread a line, in a core-memory block."""

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
    """One line."""

    text: str
    is_open: bool

    def __str__(self) -> str:
        return f"{OPEN if self.is_open else CLOSED}{self.text}"


def update_open_threads(
    *, action: Literal["add", "close", "remove"], thread: str
) -> dict[str, Any]:
    """Adds, closes or removes a thread; answers with all of them.

    Raises:
        ToolError: the text is blank or has lines, is there already, or means no thread
            or several; or Letta fails.
    """
    wanted = clean_text(thread, "thread")
    if len(wanted.splitlines()) > 1:
        raise ToolError("`thread` must be one line.")
    block = read_block(BLOCK)
    threads = [_parsed(line) for line in block.value.splitlines() if line.strip()]
    if action == "add":
        if any(one.text == wanted and one.is_open for one in threads):
            raise ToolError("This thread is open already.")
        threads.append(Thread(wanted, True))
    else:
        place = _place(threads, wanted)
        if action == "close":
            threads[place] = replace(threads[place], is_open=False)
        else:
            del threads[place]
    write_block(block, "\n".join(str(one) for one in threads))
    return {"threads": [{"thread": t.text, "is_open": t.is_open} for t in threads]}


def _parsed(line: str) -> Thread:
    text = line.strip()
    for mark, is_open in ((OPEN, True), (CLOSED, False)):
        if text.startswith(mark.rstrip()):
            return Thread(text.removeprefix(mark.rstrip()).strip(), is_open)
    return Thread(text.removeprefix("- "), True)


def _place(threads: list[Thread], wanted: str) -> int:
    """The thread that has this text, or the only one that begins with it."""
    for index, one in enumerate(threads):
        if one.text == wanted:
            return index
    found = [i for i, one in enumerate(threads) if one.text.startswith(wanted)]
    if not found:
        raise ToolError(f"No thread begins with {wanted!r}.")
    if len(found) > 1:
        raise ToolError(f"{len(found)} threads begin with {wanted!r}; say more of it.")
    return found[0]
