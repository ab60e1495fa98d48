"""The official program for `.mcpb` archives opens ours, and finds nothing wrong."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.mcp.node_setup import find_node_tools
from tests.package.conftest import track
from tests.package.test_archive import BUILT
from tests.package.test_manifests import FULL
from tests.program import toolcast

TOOLS = find_node_tools()
pytestmark = [
    pytest.mark.node,
    pytest.mark.skipif(TOOLS is None, reason="make test-node sets it up"),
]


def mcpb(*words: str | Path) -> str:
    assert TOOLS is not None
    line = [*TOOLS.mcpb, *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_it_unpacks_and_validates(
    packaged: Callable[..., Project], tmp_path: Path
) -> None:
    project = packaged(toolset=FULL)
    project.generate()
    track(project.root)
    assert toolcast(project.root, "package").returncode == 0
    mcpb("unpack", project.root / BUILT, tmp_path / "out")
    said = mcpb("validate", tmp_path / "out" / "manifest.json")
    assert "Manifest schema validation passes!" in said
    assert "warning" not in said.lower() and "error" not in said.lower()
