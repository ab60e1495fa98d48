"""Follow the section of docs/outputs.md on an existing repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program import toolcast

ROOT = Path(__file__).parents[2]
HEADING = "## Add Toolcast to an existing repository"


@pytest.mark.slow
def test_tools_of_a_package_below_src(tmp_path: Path) -> None:
    page = (ROOT / "docs/outputs.md").read_text("utf-8")
    section = page.split(HEADING)[1].split("\n## ")[0]
    blocks = dict(re.findall(r"```(yaml|toml)\n(.*?)```", section, re.S))
    for path, text in {
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
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    generated = toolcast(tmp_path, "generate")
    assert generated.returncode == 0, generated.stderr
    assert toolcast(tmp_path, "check").returncode == 0

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path / "src")},
            capture_output=True,
            encoding="utf-8",
        )

    server = "acme_clinic.generated.clinic.mcp_server"
    assert server in section
    assert run(server, "--list").stdout == "greet\n"
    tests = run("pytest", "-q", "-p", "no:cacheprovider")
    assert tests.returncode == 0, tests.stdout
    assert "test_snapshots" in run("pytest", "--co", "-q").stdout
    linted = run("ruff", "format", "--check", "src")
    assert linted.stdout == "3 files already formatted\n", "the outputs are left out"
