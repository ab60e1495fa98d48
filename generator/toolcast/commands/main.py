"""Entry point of the `toolcast` program."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Sequence

# A run builds a large tree that lives until the end. With Python's default threshold the
# cycle collector would traverse it repeatedly. The collector stays enabled because formatting
# the errors of a hostile schema creates many reference cycles.
_GC_THRESHOLD = 50_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program `toolcast`, and exit with the command's exit code.

    A `generate` without changes since its last run prints the stored output before the
    generator is imported, and returns if the exit code is 0.

    Args:
        arguments: the command line without the program name; defaults to `sys.argv[1:]`.
    """
    if arguments is None and sys.argv[1:2] == ["generate"] and _repeat_last_run():
        return
    gc.set_threshold(_GC_THRESHOLD, *gc.get_threshold()[1:])
    from toolcast_runtime.cli.terminal import report_output_errors

    from .command_group import main as program
    from .exit_codes import USAGE, fail

    try:
        os.getcwd()
    except FileNotFoundError:
        fail("the working directory was removed\n  help: change to another folder")
    try:
        with report_output_errors(USAGE):
            program(args=arguments, prog_name="toolcast")
    finally:
        if arguments is None:
            # The process ends here, and the system frees its memory: exclude all objects
            # from the collection that Python runs at exit.
            gc.freeze()


def build_run_key() -> str:
    """Return a key that identifies the command and the form of its output.

    Two runs with equal keys and equal inputs print the same. The key contains the arguments,
    the working directory, whether output is colored, and GitHub Actions' checkout folder.
    """
    has_color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    checkout = os.environ.get("GITHUB_WORKSPACE")
    return repr((sys.argv[1:], os.getcwd(), has_color, checkout))


def _repeat_last_run() -> bool:
    """Print the stored outcome of an identical run, and return whether there was one.

    Exits with the stored exit code if it is not 0.
    """
    from ..project import find_root
    from ..up_to_date import find_outcome

    # On an error, such as an output encoding that lacks a character, the complete command
    # runs and reports it.
    with contextlib.suppress(OSError, UnicodeError):
        root = find_root(os.getcwd())
        outcome = find_outcome(root, build_run_key()) if root is not None else None
        if outcome is None:
            return False
        for stream, text in ((sys.stderr, outcome.err), (sys.stdout, outcome.out)):
            text.encode(stream.encoding)
            stream.write(text)
            stream.flush()
        if outcome.code:
            sys.exit(outcome.code)
        return True
    return False
