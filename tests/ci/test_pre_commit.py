"""Hooks of `.pre-commit-hooks.yaml`, run by pre-commit in temporary repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.git_command import run_git
from tests.program import toolcast

ROOT = Path(__file__).parents[2]
# `language: system` uses the test environment, so pre-commit installs nothing.
CONFIG = """\
repos:
  - repo: {hooks}
    rev: {rev}
    hooks:
      - id: toolcast-generate
        language: system
        args: [{args}]
      - id: toolcast-check
        language: system
        args: [{args}]
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    """Create a git repository with the hooks manifest."""
    folder = tmp_path / "hooks"
    folder.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", folder)
    run_git(folder, "init", "--quiet")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--quiet", "-m", "hooks")
    return folder


def make_repository(tmp_path: Path, hooks: Path, subfolder: str) -> Path:
    """Create a repository with a generated project in a subfolder and both hooks."""
    repository = tmp_path / "repository"
    project = repository / subfolder
    project.mkdir(parents=True)
    run_git(repository, "init", "--quiet")
    assert toolcast(project, "init", "--name", "demo").returncode == 0
    assert toolcast(project, "generate").returncode == 0
    args = f"--project, {subfolder}" if subfolder else ""
    rev = run_git(hooks, "rev-parse", "HEAD")
    text = CONFIG.format(hooks=hooks, rev=rev, args=args)
    (repository / ".pre-commit-config.yaml").write_text(text)
    run_git(repository, "add", ".")
    return repository


def run_pre_commit(repository: Path, tmp_path: Path) -> tuple[int, str]:
    """Run all hooks on all files; return the exit code and the output."""
    scripts = Path(sys.executable).parent
    env = {
        **{k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
        "PRE_COMMIT_HOME": str(tmp_path / "home"),
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
    }
    options = ("run", "--all-files", "--color=never")
    result = subprocess.run(
        [sys.executable, "-m", "pre_commit", *options],
        cwd=repository,
        env=env,
        capture_output=True,
        text=True,
    )
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize("subfolder", ["", "services/agent"])
def test_pre_commit_hooks_regenerate_changed_specs_and_reject_invalid_specs(
    tmp_path: Path, hooks: Path, subfolder: str
) -> None:
    repository = make_repository(tmp_path, hooks, subfolder)
    code, output = run_pre_commit(repository, tmp_path)
    assert code == 0, output
    assert output.count("Passed") == 2

    spec = repository / subfolder / "specs" / "demo" / "count_words.yaml"
    spec.write_text(spec.read_text().replace("Count the words", "Number the words"))
    run_git(repository, "add", ".")
    code, output = run_pre_commit(repository, tmp_path)
    assert code == 1
    # Both hooks pass after the regenerated files are staged.
    assert "files were modified by this hook" in output
    run_git(repository, "add", ".")
    assert run_pre_commit(repository, tmp_path)[0] == 0

    spec.write_text(spec.read_text().replace("title:", "titel:"))
    run_git(repository, "add", ".")
    code, output = run_pre_commit(repository, tmp_path)
    assert code == 1
    assert "spec/unknown-key" in output and "did you mean `title`" in output
