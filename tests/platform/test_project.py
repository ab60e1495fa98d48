"""The generated outputs of the clinic's project: findings, tests and types."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolcast.commands.main import main

# `tools/list` of each client and version starts a server.
TESTS = "not mcp_tools_list_is_exact or (reception and desk)"


def test_check_command_has_no_findings_in_the_clinic_example_project(
    clinic_project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(clinic_project)
    with pytest.raises(SystemExit) as ended:
        main(["check", "--fail-on", "warning"])
    output = capsys.readouterr()
    assert ended.value.code == 0, output.err
    assert output.out.startswith("20 tools checked, ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        [*"pytest -q -n 0 -p no:cacheprovider clinic_tools -k".split(), TESTS],
        ["mypy", "--strict", "clinic", "clinic_tools"],
    ],
)
def test_generated_tests_and_mypy_pass_in_the_clinic_example_project(
    clinic_project: Path, arguments: list[str], mypy_cache: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=clinic_project,
        env={**os.environ, "MYPY_CACHE_DIR": mypy_cache},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
