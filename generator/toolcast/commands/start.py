"""Where the program starts: a run that has nothing to do ends here, before much is imported."""

from __future__ import annotations

import os
import sys

__all__ = ["main", "program"]


def program() -> None:
    """The `toolcast` command as a whole process, which ends without tidying up.

    Everything is written and closed by then, and to give back each object of thousands of
    tools one by one takes long; the operating system takes them all at once.
    """
    code: str | int | None = None
    try:
        main()
    except SystemExit as end:
        code = end.code
    # A text is still to be printed, and a profile to be written.
    if isinstance(code, str) or sys.getprofile() is not None:
        sys.exit(code)
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except OSError:
        # Nobody reads any more; the interpreter says so in its own way.
        sys.exit(code)
    os._exit(code or 0)


def main() -> None:
    """The `toolcast` command, within a process that goes on."""
    if sys.argv[1:2] == ["generate"] and _is_done(sys.argv[2:]):
        return
    from .entry import main as run

    run()


def _is_done(arguments: list[str]) -> bool:
    """Whether `generate` finds everything as its last run left it, and has said so.

    With other arguments than the project's folder the command itself decides.
    """
    from ..project import WORKSPACE_FILE, find_root

    if len(arguments) == 2 and arguments[0] == "--project":
        root: str | None = os.path.abspath(arguments[1])
    elif not arguments:
        root = find_root(os.getcwd())
    else:
        return False
    if root is None or not os.path.isfile(os.path.join(root, WORKSPACE_FILE)):
        return False
    from ..cache.index import unchanged

    said = unchanged(root)
    if said is None:
        return False
    is_watched = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    for stream, text in (
        (sys.stderr, said.coloured if is_watched else said.plain),
        (sys.stdout, said.result),
    ):
        try:
            stream.write(text)
            stream.flush()
        except UnicodeEncodeError:
            # A terminal of few letters; the command has manners for it.
            return False
    return True
