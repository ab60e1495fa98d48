"""Walks a page as its reader does: writes its files and runs its commands, in order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.contributing.recipe import Step

__all__ = ["walk"]

_STEP = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*) -->\n)?(?:`(?P<file>[^`\n]+)`:\n\n)?"
    r"```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.M | re.S,
)


def walk(page: str, folder: Path) -> int:
    """Does what a page says in an empty folder.

    A block below a file's name is that file, or, as a diff, an edit of it. A block of `sh` is
    run, and one of `text` behind it is what it prints. What stands below a comment is left
    out.

    Returns:
        How many blocks of commands were run.
    """
    said, walked = "", 0
    for step in _STEP.finditer(page):
        if step["note"] is not None:
            continue
        if step["file"] is not None and step["kind"] == "diff":
            Step(step["file"], "diff", step["text"]).edit(folder)
        elif step["file"] is not None:
            path = folder / step["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["text"], "utf-8")
        elif step["kind"] == "sh":
            said, folder = _run(step["text"], folder)
            walked += 1
        elif step["kind"] == "text":
            assert step["text"] in said, said
    return walked


def _run(commands: str, folder: Path) -> tuple[str, Path]:
    """What commands print, on both streams, and the folder that they end in."""
    here = os.path.dirname(sys.executable)
    done = subprocess.run(
        ["bash", "-euc", f"exec 2>&1\n{commands}\nprintf '\\n%s' \"$PWD\""],
        cwd=folder,
        env={**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=100,
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
    said, _, ended_in = done.stdout.rpartition("\n")
    return said, Path(ended_in)
