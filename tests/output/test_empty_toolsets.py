"""Generated code of a toolset without tools, which mypy accepts in strict mode."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.project_files import write_toolset
from toolcast.commands.command_group import main

# Only the toolset's modules, because checking whole libraries is slow.
STRICT = """
    --strict --explicit-package-bases --no-site-packages --ignore-missing-imports
    --follow-imports=silent --allow-untyped-decorators
""".split()


@pytest.mark.slow
def test_generated_code_without_tools_passes_mypy_strict(tmp_path: Path) -> None:
    write_toolset(tmp_path, "bare", {"toolset": "name: bare\ntitle: Bare\n"})
    # `--project` accepts the folder or the toolcast.yaml inside it.
    for project in (tmp_path, tmp_path / "toolcast.yaml"):
        done = CliRunner().invoke(main, ["generate", "--project", str(project)])
        assert done.exit_code == 0, done.output
        assert done.stdout.endswith("\nrun `toolcast new NAME` to create a tool\n")
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            *STRICT,
            "--cache-dir",
            "cache",
            "generated/bare",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout
