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
    # A text is still to be printed, and a profile or what a debugger saw to be written.
    is_watched = sys.getprofile() is not None or sys.gettrace() is not None
    if isinstance(code, str) or is_watched:
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
    root = _root(sys.argv[2:]) if sys.argv[1:2] == ["generate"] else None
    if root is None:
        from .entry import main as run

        run()
    elif not _is_done(root):
        _cast(root)


def _root(arguments: list[str]) -> str | None:
    """The project's folder for `generate`; None where it takes the command itself to tell.

    That parses all other arguments, and has the words for a project that is not there.
    """
    from ..project import WORKSPACE_FILE, find_root

    if len(arguments) == 2 and arguments[0] == "--project":
        root: str | None = os.path.abspath(arguments[1])
    else:
        root = None if arguments else find_root(os.getcwd())
    if root is None or not os.path.isfile(os.path.join(root, WORKSPACE_FILE)):
        return None
    return root


def _cast(root: str) -> None:
    """Does the work, and takes what goes wrong to the one who knows how commands end."""
    from .casting import cast

    try:
        cast(root)
    except (Exception, KeyboardInterrupt) as error:
        from .entry import end_with

        end_with(error)


def _is_done(root: str) -> bool:
    """Whether everything is as the last run left it; then what that said is said again."""
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
