"""The `git` command with a fixed identity."""

from __future__ import annotations

import subprocess
from pathlib import Path

__all__ = ["run_git"]


def run_git(folder: Path, *args: str, check: bool = True) -> str:
    """Run git in a folder and return its output, without `check` also its errors."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    result = subprocess.run(
        ["git", *identity, *args], cwd=folder, capture_output=True, text=True
    )
    if not check:
        return result.stdout + result.stderr
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()
