"""Two halves of a question, each answered by a process of its own where there is room for two."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    # A run without changes has no time for it.
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    Item = TypeVar("Item")

__all__ = ["both", "halves"]

_YES = b"y"


def halves(
    items: Iterable[Item], weight: Callable[[Item], int]
) -> tuple[list[Item], list[Item]]:
    """The items in two lists of about the same weight."""
    first: list[Item] = []
    second: list[Item] = []
    balance = 0
    for item in sorted(items, key=weight, reverse=True):
        (first if balance <= 0 else second).append(item)
        balance += weight(item) if balance <= 0 else -weight(item)
    return first, second


def both(
    holds: Callable[[list[Item]], bool], first: list[Item], second: list[Item]
) -> bool:
    """Whether something holds for both lists.

    It must have no effects: the second list may be looked at by a copy of this process. That
    such a copy came to its end counts for nothing, only that it said yes.
    """
    if not _can_split():
        return holds(first) and holds(second)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if holds(second):
                os.write(writer, _YES)
        finally:
            # Nothing of the process that it was copied from may run on: no handler, no flush.
            os._exit(0)
    os.close(writer)
    try:
        return holds(first) and os.read(reader, 1) == _YES
    finally:
        os.close(reader)
        _take_leave(child)


def _can_split() -> bool:
    """Whether a copy of this process can be made, and runs beside it."""
    if not hasattr(os, "fork") or not hasattr(os, "sched_getaffinity"):
        return False
    threading = sys.modules.get("threading")
    has_threads = threading is not None and threading.active_count() > 1
    return not has_threads and len(os.sched_getaffinity(0)) > 1


def _take_leave(child: int) -> None:
    try:
        os.waitpid(child, 0)
    except ChildProcessError:
        # Who started this process may have told the system to take leave of children itself.
        return
