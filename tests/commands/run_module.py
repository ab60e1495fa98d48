"""Run Python modules as programs."""

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
    """Run `python -m COMMAND` in a folder, without the environment of this pytest run.

    `toolcast` runs in this process.
    """
    if command[0] == "toolcast":
        done = toolcast(folder, *command[1:])
        assert done.returncode == expect, done.stdout + done.stderr
        return done
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    # A generated project does not use the pytest plugins of this repository.
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
