"""Runs a module as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["run"]


def run(
    folder: Path, *command: str, expect: int = 0
) -> subprocess.CompletedProcess[str]:
    """`python -m COMMAND` in a folder, without what this run of pytest has set."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
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
