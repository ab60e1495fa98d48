"""Execution of a docs page: its files are written and its commands run, in order."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.contributing.recipe_steps import Step

__all__ = ["follow_page"]

_STEP = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*) -->\n)?(?:`(?P<file>[^`\n]+)`:\n\n)?"
    r"```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.M | re.S,
)


def follow_page(page: str, folder: Path) -> int:
    """Execute the steps of a page in a folder and return the number of `sh` blocks run.

    A block after a file name is written to that file, or applied to it if it is a `diff`.
    An `sh` block runs in the directory and environment that the previous one left; its output
    must contain the `text` block after it. A block after an HTML comment is skipped.
    """
    output, count, shell = "", 0, _Shell(folder)
    with contextlib.closing(shell):
        for step in _STEP.finditer(page):
            if step["note"] is not None:
                continue
            if step["file"] is not None and step["kind"] == "diff":
                Step(step["file"], "diff", step["text"]).apply(shell.folder)
            elif step["file"] is not None:
                path = shell.folder / step["file"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(step["text"], "utf-8")
            elif step["kind"] == "sh":
                output = shell.run(step["text"])
                count += 1
            elif step["kind"] == "text":
                assert step["text"] in output, output
    return count


class _Shell:
    """Shell session: a directory, variables and background processes."""

    def __init__(self, folder: Path) -> None:
        scripts = os.path.dirname(sys.executable)
        path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
        self.folder = folder
        pytest_options = {
            # pytest would import the plugins of this repository's environment.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            # A test that does not end prints its stack before the command's timeout.
            "PYTEST_ADDOPTS": "-o faulthandler_timeout=60",
        }
        self._env = {**os.environ, **pytest_options, "PATH": path}
        self._process_groups: list[int] = []

    def run(self, commands: str) -> str:
        """Run commands, raise if they fail, and return stdout and stderr together."""
        with tempfile.NamedTemporaryFile() as environment:
            shell = subprocess.Popen(
                ["bash", "-euc", f"{commands}\nenv -0 >{environment.name}"],
                cwd=self.folder,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                start_new_session=True,
            )
            self._process_groups.append(shell.pid)
            try:
                output, _ = shell.communicate(timeout=100)
            except subprocess.TimeoutExpired:
                os.killpg(shell.pid, signal.SIGKILL)
                output, _ = shell.communicate(timeout=10)
                raise AssertionError(
                    f"{commands}\ndid not end within 100 seconds:\n{output}"
                ) from None
            assert shell.returncode == 0, f"{commands}\n{output}"
            pairs = environment.read().decode().rstrip("\0").split("\0")
        self._env = dict(pair.split("=", 1) for pair in pairs)
        self.folder = Path(self._env["PWD"])
        return output

    def close(self) -> None:
        """Kill background processes that still run."""
        for group in self._process_groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
