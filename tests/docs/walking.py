"""Walks a page as its reader does: writes its files and runs its commands, in order."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
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
    run, in the folder and with the variables that the one before has left, and a block of
    `text` behind it is in what it prints. What stands below a comment is left out.

    Returns:
        How many blocks of commands were run.
    """
    said, walked, shell = "", 0, _Shell(folder)
    with contextlib.closing(shell):
        for step in _STEP.finditer(page):
            if step["note"] is not None:
                continue
            if step["file"] is not None and step["kind"] == "diff":
                Step(step["file"], "diff", step["text"]).edit(shell.folder)
            elif step["file"] is not None:
                path = shell.folder / step["file"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(step["text"], "utf-8")
            elif step["kind"] == "sh":
                said = shell.run(step["text"])
                walked += 1
            elif step["kind"] == "text":
                assert step["text"] in said, said
    return walked


class _Shell:
    """What a reader has open: a folder, variables, and what runs in the background."""

    def __init__(self, folder: Path) -> None:
        here = os.path.dirname(sys.executable)
        path = f"{here}{os.pathsep}{os.environ['PATH']}"
        self.folder = folder
        self._env = {**os.environ, "PATH": path}
        self._groups: list[int] = []

    def run(self, commands: str) -> str:
        """What commands print, on both streams."""
        with tempfile.NamedTemporaryFile() as left:
            shell = subprocess.Popen(
                ["bash", "-euc", f"{commands}\nenv -0 >{left.name}"],
                cwd=self.folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                start_new_session=True,
            )
            self._groups.append(shell.pid)
            said, _ = shell.communicate(timeout=100)
            assert shell.returncode == 0, f"{commands}\n{said}"
            pairs = left.read().decode().rstrip("\0").split("\0")
        self._env = dict(pair.split("=", 1) for pair in pairs)
        self.folder = Path(self._env["PWD"])
        return said

    def close(self) -> None:
        """Ends what still runs."""
        for group in self._groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
