"""Functions of a FastMCP server, served by Toolcast with the same answers."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.fastmcp.fastmcp_setup import is_installed, python
from tests.module_graph import ROOT

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(not is_installed(), reason="not set up: make test-servers"),
]


@pytest.mark.parametrize("library", ["fastmcp", "mcp"])
def test_functions_give_the_same_answers_as_their_own_server(library: str) -> None:
    """Tools, resources, prompts, Context, log messages, questions; both eras."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "runtime")])
    ended = subprocess.run(
        [python(), "-W", "ignore", "-m", "tests.fastmcp.oracle", library],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.stdout == "no differences\n", ended.stdout + ended.stderr[-2000:]
