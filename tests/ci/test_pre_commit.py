"""The hooks of `.pre-commit-hooks.yaml`, run by pre-commit itself in scratch repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program import toolcast

ROOT = Path(__file__).parents[2]
# The manifest is our own. The environment is the tests', so that nothing is installed.
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


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def hooks(tmp_path: Path) -> Path:
    """A repository that has the manifest."""
    folder = tmp_path / "hooks"
    folder.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", folder)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "hooks")
    return folder


def scratch(tmp_path: Path, hooks: Path, below: str) -> Path:
    """A repository with a generated project in a folder of it, and the hooks."""
    repository = tmp_path / "repository"
    project = repository / below
    project.mkdir(parents=True)
    git(repository, "init", "--quiet")
    assert toolcast(project, "init", "--name", "demo").returncode == 0
    assert toolcast(project, "generate").returncode == 0
    args = f"--project, {below}" if below else ""
    rev = git(hooks, "rev-parse", "HEAD")
    text = CONFIG.format(hooks=hooks, rev=rev, args=args)
    (repository / ".pre-commit-config.yaml").write_text(text)
    git(repository, "add", ".")
    return repository


def pre_commit(repository: Path, tmp_path: Path) -> tuple[int, str]:
    bin_ = Path(sys.executable).parent
    env = {
        **{k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
        "PRE_COMMIT_HOME": str(tmp_path / "home"),
        "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}",
    }
    words = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--color=never"]
    done = subprocess.run(
        words, cwd=repository, env=env, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("below", ["", "services/agent"])
def test_hooks_run_in_a_repository(tmp_path: Path, hooks: Path, below: str) -> None:
    repository = scratch(tmp_path, hooks, below)
    code, said = pre_commit(repository, tmp_path)
    assert code == 0, said
    assert said.count("Passed") == 2

    spec = repository / below / "specs" / "demo" / "count_words.yaml"
    spec.write_text(spec.read_text().replace("Count the words", "Number the words"))
    git(repository, "add", ".")
    code, said = pre_commit(repository, tmp_path)
    assert code == 1
    # What was generated is to be added; then both pass.
    assert "files were modified by this hook" in said
    git(repository, "add", ".")
    assert pre_commit(repository, tmp_path)[0] == 0

    spec.write_text(spec.read_text().replace("title:", "titel:"))
    git(repository, "add", ".")
    code, said = pre_commit(repository, tmp_path)
    assert code == 1
    assert "spec/unknown-key" in said and "did you mean `title`" in said
