"""Installs servers that others wrote, once, outside of the repository.

    python -m tests.external.third_party_setup

Those of the package index for Python get a virtual environment of their own, because they may
need another version of the SDK than this project; those of npm run on a Node.js that comes as a
Python wheel. Everything goes into one folder,
$TOOLCAST_SERVERS or toolcast-servers in the user's cache, which may be deleted at any time.
The tests marked `servers` run when the folder is there and are skipped when not.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.node_programs import (
    cache_folder,
    install_node,
    install_packages,
    node_and_npm,
    set_up,
)

__all__ = ["ThirdParty", "installed"]

PYTHON_PACKAGES = (
    "mcp-server-time==2026.10.19",
    "mcp-server-git==2026.10.19",
    "mcp-server-fetch==2026.10.24",
    "wikipedia-mcp==2.0.1",
)
NODE_PACKAGES = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "chrome-devtools-mcp@1.11.0",
    "firecrawl-mcp@3.26.0",
)
ISSUER = "oidc-provider@9.13.3"
"""An authorization server, certified by the OpenID Foundation."""

_SCRIPTS = {
    "chrome-devtools-mcp": "build/src/bin/chrome-devtools-mcp.js",
}
_ARGUMENTS = {"@modelcontextprotocol/server-filesystem": ("/",)}


@dataclass(frozen=True)
class ThirdParty:
    """The commands, each with its first arguments.

    Attributes:
        all: each by the package's name.
        node: Node.js.
        oidc_provider: the module of an authorization server for it.
    """

    time: tuple[str, ...]
    git: tuple[str, ...]
    everything: tuple[str, ...]
    all: Mapping[str, tuple[str, ...]]
    node: str
    oidc_provider: str


def folder() -> Path:
    """Where everything is installed."""
    return cache_folder("toolcast-servers", "TOOLCAST_SERVERS")


def installed() -> ThirdParty | None:
    """The commands; None when the folder is not complete."""
    programs = _programs()
    node, _ = node_and_npm(folder())
    commands: dict[str, tuple[Path, ...]] = {}
    for package in PYTHON_PACKAGES:
        name = package.partition("==")[0]
        commands[name] = (programs / name,)
    for package in NODE_PACKAGES:
        name = package.rpartition("@")[0]
        script = folder() / "node_modules" / name / _SCRIPTS.get(name, "dist/index.js")
        commands[name] = (node, script)
    issuer = folder() / "node_modules/oidc-provider/lib/index.js"
    if not issuer.exists() or not all(
        path.exists() for paths in commands.values() for path in paths
    ):
        return None
    words = {
        name: (*map(str, paths), *_ARGUMENTS.get(name, ()))
        for name, paths in commands.items()
    }
    return ThirdParty(
        words["mcp-server-time"],
        words["mcp-server-git"],
        words["@modelcontextprotocol/server-everything"],
        words,
        str(node),
        str(issuer),
    )


def _programs() -> Path:
    return folder() / "python" / ("Scripts" if sys.platform == "win32" else "bin")


def main() -> int:
    """Installs what is missing."""
    where = folder()
    pip = [str(_programs() / "python"), "-m", "pip", "install", "--quiet"]
    commands = [
        [sys.executable, "-m", "venv", str(where / "python")],
        [*pip, "--disable-pip-version-check", *PYTHON_PACKAGES],
        install_node(where),
        install_packages(where, *NODE_PACKAGES, ISSUER),
    ]
    return set_up(where, lambda: installed() is not None, commands)


if __name__ == "__main__":
    sys.exit(main())
