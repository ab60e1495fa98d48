"""Archives unpacked and validated by the official program for `.mcpb` files."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.mcp.node_setup import find_node_tools
from tests.package.conftest import track
from tests.package.test_archive import ARCHIVE
from tests.package.test_manifests import FULL
from tests.program import toolcast

TOOLS = find_node_tools()
pytestmark = [
    pytest.mark.node,
    pytest.mark.skipif(TOOLS is None, reason="make test-node sets it up"),
]


def run_mcpb(*arguments: str | Path) -> str:
    assert TOOLS is not None
    command = [*TOOLS.mcpb, *map(str, arguments)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout + process.stderr


def test_official_mcpb_program_unpacks_and_validates_the_toolcast_package_archive(
    make_package_project: Callable[..., Project], tmp_path: Path
) -> None:
    project = make_package_project(toolset=FULL)
    project.generate()
    track(project.root)
    assert toolcast(project.root, "package").returncode == 0
    run_mcpb("unpack", project.root / ARCHIVE, tmp_path / "out")
    output = run_mcpb("validate", tmp_path / "out" / "manifest.json")
    assert "Manifest schema validation passes!" in output
    assert "warning" not in output.lower() and "error" not in output.lower()
