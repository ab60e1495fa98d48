"""Public servers are imported by one command, and the generated servers equal them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fastmcp.public_servers_setup import SERVERS, get_python, is_installed
from tests.module_graph import ROOT
from tests.program import run_toolcast

DATA = Path(__file__).parent / "public_servers"
pytestmark = pytest.mark.servers


# Some of the servers load a dictionary or a library for seconds at each of ten starts.
@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", SERVERS)
def test_public_server_is_imported_and_equal(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No handler is a stub, and lists and recorded calls are equal."""
    if not is_installed(name):
        pytest.skip("not set up: make test-servers")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "runtime"))
    # Some of the servers write to the user's home.
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    source = ("--python", SERVERS[name][0], "--interpreter", str(get_python(name)))
    printed = run_toolcast(tmp_path, "import", *source, "--toolset", "public")
    listed = json.loads((DATA / f"{name}.list.json").read_text("utf-8"))
    count = sum(len(entries) for entries in listed.values())
    assert f"{count} new tools, 0 changed" in printed
    assert "stub" not in printed
    run_toolcast(tmp_path, "generate")
    run_toolcast(tmp_path, "check")
    run_toolcast(tmp_path, "verify", *source)
    calls = (DATA / f"{name}.calls.jsonl").read_text("utf-8")
    path = tmp_path / "calls.jsonl"
    path.write_text(calls.replace("{data}", (DATA / "data").as_posix()), "utf-8")
    printed = run_toolcast(tmp_path, "verify", *source, "--calls", str(path))
    assert "5 calls: 5 equal, 0 with permitted differences, 0 different" in printed
