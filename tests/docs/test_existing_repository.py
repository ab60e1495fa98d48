"""Settings in docs/outputs.md for an existing repository, used in a `src` layout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program import toolcast
from tests.project_files import write_files

ROOT = Path(__file__).parents[2]
HEADING = "## Add Toolcast to an existing repository"


@pytest.mark.slow
def test_docs_settings_for_a_src_layout_generate_a_working_server(
    tmp_path: Path,
) -> None:
    page = (ROOT / "docs/outputs.md").read_text("utf-8")
    section = page.split(HEADING)[1].split("\n## ")[0]
    blocks = dict(re.findall(r"```(yaml|toml)\n(.*?)```", section, re.S))
    files = {
        "toolcast.yaml": blocks["yaml"],
        "pyproject.toml": blocks["toml"],
        "specs/clinic/toolset.yaml": (
            "name: clinic\ntitle: Clinic\nhandlers: acme_clinic.agent\n"
        ),
        "specs/clinic/greet.yaml": (
            "name: greet\nsummary: Greet an animal.\nwhen_to_use: When one comes in.\n"
            "parameters: {type: object}\nhandler: acme_clinic.agent.greeting:greet\n"
            "cli: {keyword: greet}\n"
        ),
        "src/acme_clinic/__init__.py": "",
        "src/acme_clinic/agent/__init__.py": "",
        "src/acme_clinic/agent/greeting.py": 'def greet() -> str:\n    return "Hello"\n',
        "tests/test_nothing.py": "def test_nothing() -> None: ...\n",
    }
    write_files(tmp_path, files)
    generated = toolcast(tmp_path, "generate")
    assert generated.returncode == 0, generated.stderr
    assert toolcast(tmp_path, "check").returncode == 0

    def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(tmp_path / "src"),
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            },
            capture_output=True,
            encoding="utf-8",
        )

    server = "acme_clinic.generated.clinic.mcp_server"
    assert server in section
    assert run_python(server, "--list").stdout == "greet\n"
    test_run = run_python("pytest", "-v", "-p", "no:cacheprovider")
    assert test_run.returncode == 0, test_run.stdout
    assert "test_snapshots" in test_run.stdout
    format_check = run_python("ruff", "format", "--check", "src")
    # Ruff's settings exclude the generated files.
    assert format_check.stdout == "3 files already formatted\n"
