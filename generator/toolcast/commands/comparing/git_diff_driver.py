"""`toolcast git-diff-driver`: what git runs for specs instead of its own diff."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator

import click

from ...project import find_root
from ...reports.escaping import printable
from ..exit_codes import fail, wants_colour

__all__ = ["command"]

_MOST = 8 * 1024 * 1024
_NOTHING = "/dev/null"
_NO_MODE = "."


@click.command(
    name="git-diff-driver", context_settings={"ignore_unknown_options": True}
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def command(words: tuple[str, ...]) -> None:
    """Show what changes of specs mean within `git diff`. Git runs it.

    \b
    Tell git once in a clone:
      git config diff.toolcast.command "toolcast git-diff-driver"
    and in .gitattributes which files are specs:
      specs/**/*.yaml diff=toolcast
      toolcast.yaml   diff=toolcast

    `git log -p` and `git show` take it with --ext-diff; `git diff --no-ext-diff` shows the
    lines. A file that cannot be compared, or whose meaning is the same, is shown by its
    lines, too.
    """
    if not words:
        fail("git runs this; `toolcast git-diff-driver --help` tells how")
    try:
        for line in _shown(words):
            click.echo(line)
    except BrokenPipeError:
        # Git ends the whole command when a driver fails, and a pager may be closed early.
        # What is left in the buffer would fail once more when the program ends.
        sys.stdout = sys.stderr


def _shown(words: tuple[str, ...]) -> Iterator[str]:
    """The lines for the arguments of GIT_EXTERNAL_DIFF.

    They are path, old file, old id, old mode, new file, new id, new mode, and for a renamed
    file its new path and the header of git's diff. Source: git(1), GIT_EXTERNAL_DIFF.
    """
    path = words[0]
    new_path = words[7] if len(words) > 7 else path
    yield f"toolcast diff {printable(new_path)}"
    if len(words) < 7:
        yield "  it is not merged"
        return
    try:
        old, new = _read(words[1]), _read(words[4])
    except OSError as error:
        yield f"  it cannot be read: {error.strerror or error}"
        return
    if words[3] != words[6] and _NO_MODE not in (words[3], words[6]):
        yield f"  its mode is {printable(words[6])} instead of {printable(words[3])}"
    try:
        shown = _meaning(path, new_path, old, new)
    except Exception as error:
        # Whatever a spec in work has in it, its lines can be shown.
        shown = ""
        yield f"  by its lines, since {printable(str(error))}"
    if shown:
        yield from shown.rstrip("\n").split("\n")
    else:
        yield from _lines(path, new_path, old, new)
    yield ""


def _read(path: str) -> bytes | None:
    from toolcast_runtime.files.regular_file import read_regular

    return None if path == _NOTHING else read_regular(path, _MOST)


def _meaning(path: str, new_path: str, old: bytes | None, new: bytes | None) -> str:
    """The changes as `toolcast diff` shows them; empty where there are none."""
    from ...changes.review.one_file import Unreadable, changes_of_file
    from ...changes.review.verdict import Judged
    from ...XXX

    root = find_root(os.path.dirname(os.path.abspath(new_path)))
    if root is None:
        raise Unreadable("there is no toolcast.yaml above it")
    below = [
        os.path.relpath(os.path.abspath(one), root).replace(os.sep, "/")
        for one in (path, new_path)
    ]
    changes = changes_of_file(root, (below[0], old), (below[1], new))
    judged = [Judged(one, one.place, None, ()) for one in changes]
    return "\n".join(paragraphs(judged, wants_colour("text", sys.stdout)))


def _lines(
    path: str, new_path: str, old: bytes | None, new: bytes | None
) -> Iterator[str]:
    from ...reading.characters import decoded

    if old == new:
        return
    sides = []
    for data in (old, new):
        try:
            text = decoded(data or b"")
            sides.append(text.removesuffix("\n").split("\n") if text else [])
        except UnicodeDecodeError:
            yield "  it is not UTF-8"
            return
    names = (
        _NOTHING if old is None else f"a/{printable(path)}",
        _NOTHING if new is None else f"b/{printable(new_path)}",
    )
    for row in difflib.unified_diff(sides[0], sides[1], *names, lineterm=""):
        yield printable(row)
