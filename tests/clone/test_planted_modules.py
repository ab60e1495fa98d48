"""Planted modules: names that the generator imports, in the working folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TRAP_MODULE = "open('trap-was-sprung', 'w').close()\n"
ENTRY_POINTS = "[toolcast.targets]\nplanted = planted:TARGET\n"


def test_check_imports_no_module_from_the_working_directory(tmp_path: Path) -> None:
    for name in ("click", "jinja2", "yaml", "planted"):
        (tmp_path / f"{name}.py").write_text(TRAP_MODULE, "utf-8")
    metadata = tmp_path / "planted-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Name: planted\nVersion: 1\n", "utf-8")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS, "utf-8")
    workspace = "version: 1\ntoolsets: [specs]\nextensions: [planted]\n"
    (tmp_path / "toolcast.yaml").write_text(workspace, "utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "toolcast", "check"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (tmp_path / "trap-was-sprung").exists()
    assert result.returncode == 2
    assert "spec/missing-extension" in result.stderr + result.stdout
