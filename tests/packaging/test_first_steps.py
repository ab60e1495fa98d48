"""The next steps that `toolcast init` prints, run exactly as printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tests.commands.run_module import run
from tests.packaging.conftest import ROOT
from tests.pythons import find_interpreters

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def pythons() -> dict[str, str]:
    """Return the oldest and the newest installed Python."""
    found = find_interpreters()
    return {"oldest": found[min(found)], "newest": found[max(found)]}


def run_shell(line: str, folder: Path) -> str:
    """Return the output of a shell command, which must succeed."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "MAKE"))}
    # mypy needs minutes to read the libraries, so its cache is kept between runs.
    env["MYPY_CACHE_DIR"] = str(ROOT / ".mypy_cache" / "laid-out-project")
    # Compiling only the imported modules is faster than compiling all at installation.
    env["PIP_COMPILE"] = "0"
    result = subprocess.run(
        line, shell=True, cwd=folder, env=env, capture_output=True, text=True
    )
    assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"
    return result.stdout + result.stderr


def assert_no_warnings(output: str) -> None:
    # pip also warns about settings of the machine.
    logs = [line for line in output.splitlines() if not line.startswith("WARNING: ")]
    assert not re.search(r"(?i)warning|failed|skipped|error", "\n".join(logs)), output


# Each installation takes long: the newest Python installs wheels, the oldest the checkout.
# `make test-pythons` tests all versions.
def test_next_steps_printed_by_toolcast_init_succeed_without_warnings(
    pythons: dict[str, str], tmp_path: Path, wheels: dict[str, Path]
) -> None:
    output = run(tmp_path, "toolcast", "init", "my-tools").stdout
    steps = re.findall(r"^  (\S.*?)(?:   .*)?$", output.partition("Next:\n")[2], re.M)
    assert steps[0] == "cd my-tools"
    folder = tmp_path / "my-tools"
    for step in steps[1:]:
        line = re.sub(r" TOOLCAST=.*", "", step).replace("NAME", "get_weather")
        if is_dev := line.endswith(" dev"):
            # The server runs until it is interrupted.
            line = f"timeout --preserve-status --signal INT 10 {line} --port 0"
        variables = (
            f"PYTHON='{pythons['newest']}' TOOLCAST='{wheels['toolcast'].parent}'"
        )
        command = f"{line} {variables}" if line.startswith("make") else line
        out = run_shell(command, folder)
        if is_dev:
            # It warns about the placeholders that `new` writes.
            assert " running on http://" in out and " ERROR " not in out, out
            continue
        assert_no_warnings(out)
    run_shell(f"{sys.executable} -m ruff check --isolated .", folder)
    run_shell("make generate types", folder)
    # The check and the tests fail until the placeholders of `new` are replaced.
    pytest_line = ".venv/bin/python -m pytest -q -k test_toolcast_check_passes"
    output = run_shell(f"! make check 2>&1 && ! {pytest_line}", folder)
    assert set(re.findall(r"warning: (\S+):", output)) == {"prompt/todo"}, output


def test_generated_github_workflow_commands_pass_in_a_fresh_clone(
    pythons: dict[str, str], tmp_path: Path
) -> None:
    """A clone has only committed files, as on GitHub, and its tree stays clean.

    The project is in a subfolder; in the top folder the commands equal the next steps.
    """
    folder = "services/agent"
    first, clone = tmp_path / "first", tmp_path / "clone"
    first.mkdir()
    run_shell("git init --quiet", first)
    run(first, "toolcast", "init", folder, "--name", "my_tools")
    run(first / folder, "toolcast", "generate")
    identity = "-c user.name=Ann -c user.email=ann@example.org"
    run_shell(f"git add . && git {identity} commit --quiet -m first", first)
    run_shell(f"git clone --quiet '{first}' '{clone}'", tmp_path)
    [file] = (clone / ".github/workflows").iterdir()
    job = yaml.safe_load(file.read_text())["jobs"]["check"]
    workdir = job["defaults"]["run"]["working-directory"]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands
    variables = f"PYTHON='{pythons['oldest']}' TOOLCAST='{ROOT}'"
    for command in commands:
        out = run_shell(f"{command} {variables}", clone / workdir)
        assert_no_warnings(out)
    assert not run_shell("git status --porcelain", clone)


def test_toolcast_black_requirement_accepts_releases_from_four_years() -> None:
    """Projects can keep the version of black that they already use."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    hook = settings["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    [black] = [name for name in hook["dependencies"] if name.startswith("black")]
    releases = "23.1.0 23.12.1 24.10.0 25.1.0 25.12.0 26.1.0 26.10.1"
    for version in releases.split():
        assert Requirement(black).specifier.contains(version)
