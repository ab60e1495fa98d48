"""Install third-party servers, once, outside of the repository.

    python -m tests.external.third_party_setup

Python servers have their own virtual environment, because they may need another version of
the SDK than this project; npm servers run on a Node.js from a Python wheel. All are in one folder,
$TOOLCAST_SERVERS or toolcast-servers in the user's cache, which can be deleted at any time.
The tests marked `servers` are skipped if the folder does not exist.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.node_programs import (
    cache_folder,
    install_if_missing,
    install_node,
    install_packages,
    node_and_npm,
)

__all__ = ["NEEDS_SERVERS", "ThirdPartyCommands", "find_installed", "get_commands"]

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

_SCRIPTS = {"chrome-devtools-mcp": "build/src/bin/chrome-devtools-mcp.js"}
_ARGUMENTS = {"@modelcontextprotocol/server-filesystem": ("/",)}


@dataclass(frozen=True)
class ThirdPartyCommands:
    """The commands of the servers, with their first arguments.

    Attributes:
        all: all commands by package name.
        node: Node.js.
        oidc_provider: the Node.js module of an authorization server.
    """

    time: tuple[str, ...]
    git: tuple[str, ...]
    everything: tuple[str, ...]
    all: Mapping[str, tuple[str, ...]]
    node: str
    oidc_provider: str


def find_folder() -> Path:
    """Return the folder of all third-party servers."""
    return cache_folder("toolcast-servers", "TOOLCAST_SERVERS")


def _find_programs_folder() -> Path:
    return find_folder() / "python" / ("Scripts" if sys.platform == "win32" else "bin")


def find_installed() -> ThirdPartyCommands | None:
    """Return the commands, or None if the folder is not complete."""
    programs = _find_programs_folder()
    modules = find_folder() / "node_modules"
    node, _ = node_and_npm(find_folder())
    commands: dict[str, tuple[Path, ...]] = {}
    for package in PYTHON_PACKAGES:
        name = package.partition("==")[0]
        commands[name] = (programs / name,)
    for package in NODE_PACKAGES:
        name = package.rpartition("@")[0]
        commands[name] = (node, modules / name / _SCRIPTS.get(name, "dist/index.js"))
    issuer = modules / "oidc-provider/lib/index.js"
    if not issuer.exists() or not all(
        path.exists() for paths in commands.values() for path in paths
    ):
        return None
    args = {
        name: (*map(str, paths), *_ARGUMENTS.get(name, ()))
        for name, paths in commands.items()
    }
    return ThirdPartyCommands(
        args["mcp-server-time"],
        args["mcp-server-git"],
        args["@modelcontextprotocol/server-everything"],
        args,
        str(node),
        str(issuer),
    )


def get_commands() -> ThirdPartyCommands:
    commands = find_installed()
    assert commands is not None
    return commands


NEEDS_SERVERS = [
    pytest.mark.servers,
    pytest.mark.skipif(
        find_installed() is None, reason="not set up: make test-servers"
    ),
]
"""Marks of the modules that need the servers."""


def main() -> int:
    """Install missing servers."""
    root = find_folder()
    pip = [str(_find_programs_folder() / "python"), "-m", "pip", "install", "--quiet"]
    commands = [
        [sys.executable, "-m", "venv", str(root / "python")],
        [*pip, "--disable-pip-version-check", *PYTHON_PACKAGES],
        install_node(root),
        install_packages(root, *NODE_PACKAGES, ISSUER),
    ]
    return install_if_missing(root, lambda: find_installed() is not None, commands)


if __name__ == "__main__":
    sys.exit(main())
