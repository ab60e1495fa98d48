"""Runs a module as a program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.program import toolcast

__all__ = ["run"]


def run(
    folder: Path, *command: str, expect: int = 0
) -> subprocess.CompletedProcess[str]:
    """`python -m COMMAND` in a folder, without what this run of pytest has set.

    `toolcast` takes no process of its own.
    """
    if command[0] == "toolcast":
        done = toolcast(folder, *command[1:])
        assert done.returncode == expect, done.stdout + done.stderr
        return done
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    # The plugins of this repository's tests are nothing to a project of its own.
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done
