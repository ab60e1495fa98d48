"""Where the program begins."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Sequence

# A run builds a tree that lives to its end, and Python's collector of cycles would go through
# it again and again. It is not switched off: wording the problems of a hostile schema makes
# many cycles.
_OBJECTS = 50_000


def main(words: Sequence[str] | None = None) -> None:
    """The program `toolcast`; ends with SystemExit, but for a repeated `generate`.

    A `generate` that has nothing to do says so before the libraries are imported that it
    would need for its work.

    Args:
        words: what is typed after the program's name; default: the process's own.
    """
    if words is None and sys.argv[1:2] == ["generate"] and _is_repeated():
        return
    gc.set_threshold(_OBJECTS, *gc.get_threshold()[1:])
    from .command_group import main as program

    try:
        program(args=words, prog_name="toolcast")
    finally:
        if words is None:
            # The process ends here: its memory goes with it, and Python need not search
            # all of it for cycles first.
            gc.freeze()


def build_run_key() -> str:
    """What makes a command print the same as an earlier one.

    Its words, its place, its colours, and where GitHub has checked the repository out.
    """
    watched = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    checkout = os.environ.get("GITHUB_WORKSPACE")
    return repr((sys.argv[1:], os.getcwd(), watched, checkout))


def _is_repeated() -> bool:
    from ..project import find_root
    from ..up_to_date import find_outcome

    # Where a stream cannot take it, the whole run knows what is to be done.
    with contextlib.suppress(OSError, UnicodeError):
        root = find_root(os.getcwd())
        ended = find_outcome(root, build_run_key()) if root is not None else None
        if ended is None:
            return False
        for stream, text in ((sys.stderr, ended.err), (sys.stdout, ended.out)):
            text.encode(stream.encoding)
            stream.write(text)
            stream.flush()
        if ended.code:
            sys.exit(ended.code)
        return True
    return False
