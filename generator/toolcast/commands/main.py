"""Entry point of the `toolcast` program."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Sequence

# Number of new objects that starts Python's cyclic garbage collector. A run creates many
# objects that live until its end, which the collector would traverse repeatedly with the
# default threshold. The collector is not disabled, because formatting the errors of a hostile
# schema creates many reference cycles.
_GC_THRESHOLD = 50_000


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program `toolcast`, and exit with the command's exit code.

    If no input of `generate` changed since its last run, the output of that run is printed
    again without importing the generator. The function then returns instead of exiting if the
    exit code is 0.

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
            # Save time at exit: exclude all objects from Python's last garbage collection. The
            # operating system frees the memory of the process anyway.
            gc.freeze()


def build_run_key() -> str:
    """Return a key of everything except files that affects a command's output.

    Runs with equal keys and equal input files print the same output. The key contains the
    arguments, the working directory, whether output is colored, and the checkout folder of
    GitHub Actions.
    """
    has_color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    checkout = os.environ.get("GITHUB_WORKSPACE")
    return repr((sys.argv[1:], os.getcwd(), has_color, checkout))


def _repeat_last_run() -> bool:
    """Print the stored output of an identical run, and return whether there was one.

    Exits with the stored exit code if it is not 0.
    """
    from ..project import find_root
    from ..up_to_date import find_outcome

    # If the output cannot be printed, for example because the terminal's encoding lacks a
    # character, return False: the complete command then runs and reports the error.
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
