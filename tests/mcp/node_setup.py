"""Installation of Node.js and the Node.js programs of the tests marked `node`.

    python -m tests.mcp.node_setup

The programs are the official conformance suite, the MCP Inspector, `mcpb`, a validator of Agent
Skills and the YAML language server. They need Node.js 22 or later, which is installed from a
Python wheel. The folder is $TOOLCAST_NODE or `toolcast-node` in the user's cache; it can be
deleted at any time. Without it, tests marked `node` are skipped.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.node_programs import (
    cache_folder,
    install_if_missing,
    install_node,
    install_packages,
    node_and_npm,
)

__all__ = ["NodeTools", "find_node_tools", "run_inspector"]

PACKAGES = (
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@anthropic-ai/mcpb@2.1.2",
    "skills-ref@0.1.5",
    "yaml-language-server@1.25.0",
)


@dataclass(frozen=True)
class NodeTools:
    """Commands of the installed programs, without arguments."""

    conformance: tuple[str, ...]
    inspector: tuple[str, ...]
    mcpb: tuple[str, ...]
    skills_ref: tuple[str, ...]
    yaml_language_server: tuple[str, ...]


def get_folder() -> Path:
    """Return the installation folder."""
    return cache_folder("toolcast-node", "TOOLCAST_NODE")


def find_node_tools() -> NodeTools | None:
    """Return the commands, or None if a program is not installed."""
    node, npm = node_and_npm(get_folder())
    modules = get_folder() / "node_modules"
    programs = ("mcp-inspector", "mcpb", "skills-ref", "yaml-language-server")
    scripts = [modules / "@modelcontextprotocol/conformance/dist/index.js"]
    scripts += [modules / ".bin" / program for program in programs]
    if not all(path.exists() for path in (node, npm, *scripts)):
        return None
    return NodeTools(*((str(node), str(script)) for script in scripts))


def run_inspector(inspector: Sequence[str], folder: Path, *arguments: str) -> Any:
    """Run the MCP Inspector in a folder, and return the result of its request."""
    command = [*inspector, "--cli", "--format", "json", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    return answer.get("result", answer)


def main() -> int:
    """Install the missing programs."""
    target = get_folder()
    commands = [install_node(target), install_packages(target, *PACKAGES)]
    return install_if_missing(target, lambda: find_node_tools() is not None, commands)


if __name__ == "__main__":
    sys.exit(main())
