"""The `git` command with a fixed identity."""

from __future__ import annotations

import subprocess
from pathlib import Path

__all__ = ["run_git"]


def run_git(folder: Path, *arguments: str) -> None:
    """Run git in a folder, and raise an error if it fails."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True)
