"""Servers of FastMCP, imported by one command or adapted: Toolcast gives equal answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.fastmcp.fastmcp_setup import is_installed, python
from tests.module_graph import ROOT
from tests.program import run_toolcast

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(not is_installed(), reason="not set up: make test-servers"),
]
CALLS = [
    ("add", {"a": 1}),
    ("price", {"item": "pen"}),
    ("count", {"item": "pen"}),
    ("add", {"a": "1"}),
]


# FastMCP takes seconds at each of a dozen starts.
@pytest.mark.timeout(400)
def test_imported_fastmcp_server_has_no_stubs_and_passes_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closures with further parameters and methods are handlers, too."""
    servers = ROOT / "tests/importing/module_servers"
    shutil.copytree(servers / "fastmcp_shop", tmp_path / "fastmcp_shop")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "runtime"))
    source = ("--python", "fastmcp_shop.server", "--interpreter", str(python()))
    printed = run_toolcast(tmp_path, "import", *source, "--toolset", "shop")
    assert "6 new tools, 0 changed" in printed
    assert "stub" not in printed
    text = (tmp_path / "handlers/shop.py").read_text("utf-8")
    assert "SERVER = fastmcp_shop.server.mcp" in text
    assert 'source="fastmcp_shop.server:register_items.price"' in text
    run_toolcast(tmp_path, "generate")
    run_toolcast(tmp_path, "check")
    printed = run_toolcast(tmp_path, "verify", *source)
    assert "2 contents: 2 equal, 0 with permitted differences, 0 different" in printed
    lines = [json.dumps({"tool": tool, "arguments": a}) for tool, a in CALLS]
    (tmp_path / "calls.jsonl").write_text("\n".join(lines), "utf-8")
    printed = run_toolcast(tmp_path, "verify", *source, "--calls", "calls.jsonl")
    assert "4 calls: 3 equal, 1 with permitted differences, 0 different" in printed
    assert "0 new tools, 0 changed, 6 unchanged" in run_toolcast(
        tmp_path, "import", *source, "--toolset", "shop"
    )


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
