"""Installs Node.js and programs written for it, once, outside of the repository.

    python -m tests.mcp.node_setup

They are the official conformance suite and the Inspector, at versions that know the protocol
of 2026-07-28, the program for `.mcpb` archives, a validator of Agent Skills and the language server of YAML; they need Node.js 22 or newer, which comes as a
Python wheel. Everything goes
into one folder, $TOOLCAST_NODE or toolcast-node in the user's cache, which may be deleted at
any time. The tests marked `node` run when the folder is there and are skipped when not.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tests.node_programs import (
    cache_folder,
    install_node,
    install_packages,
    node_and_npm,
    set_up,
)

__all__ = ["NodeTools", "installed"]

PACKAGES = (
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@anthropic-ai/mcpb@2.1.2",
    "skills-ref@0.1.5",
    "yaml-language-server@1.25.0",
)


@dataclass(frozen=True)
class NodeTools:
    """The commands, each to be followed by its arguments."""

    conformance: tuple[str, ...]
    inspector: tuple[str, ...]
    mcpb: tuple[str, ...]
    skills_ref: tuple[str, ...]
    yaml_language_server: tuple[str, ...]


def folder() -> Path:
    """Where everything is installed."""
    return cache_folder("toolcast-node", "TOOLCAST_NODE")


def installed() -> NodeTools | None:
    """The commands; None when the folder is not complete."""
    node, npm = node_and_npm(folder())
    modules = folder() / "node_modules" / "@modelcontextprotocol"
    conformance = modules / "conformance" / "dist" / "index.js"
    inspector = folder() / "node_modules" / ".bin" / "mcp-inspector"
    mcpb = folder() / "node_modules" / ".bin" / "mcpb"
    skills_ref = folder() / "node_modules" / ".bin" / "skills-ref"
    language_server = folder() / "node_modules" / ".bin" / "yaml-language-server"
    scripts = (conformance, inspector, mcpb, skills_ref, language_server)
    if not all(path.exists() for path in (node, npm, *scripts)):
        return None
    return NodeTools(*((str(node), str(script)) for script in scripts))


def main() -> int:
    """Installs what is missing."""
    where = folder()
    commands = [install_node(where), install_packages(where, *PACKAGES)]
    return set_up(where, lambda: installed() is not None, commands)


if __name__ == "__main__":
    sys.exit(main())
