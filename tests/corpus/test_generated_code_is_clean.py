"""Users run their own linters over generated code: with default rules these find nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus.imported import import_lists
from tests.corpus.test_mcp_lists_exact import LISTS
from tests.mcp.projects import generate_project

TARGETS = ("mcp", "registry", "langchain", "prompts", "providers", "snapshots")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every list of the corpus as a toolset with every target that needs no decisions."""
    root = tmp_path_factory.mktemp("clean")
    import_lists(root, LISTS, TARGETS)
    generate_project(root)
    return root


def checked(folder: Path, *words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


@pytest.mark.slow
def test_ruff_with_its_default_rules(project: Path) -> None:
    checked(project, "ruff", "check", "--isolated", "--no-cache", "generated")


def test_ruff_over_this_repositorys_own() -> None:
    root = Path(__file__).parents[2]
    checked(root, "ruff", "check", "--isolated", "--no-cache", "generated")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_mypy_strict(project: Path, mypy_cache: str) -> None:
    options = ("--strict", "--explicit-package-bases", "--cache-dir", mypy_cache)
    checked(project, "mypy", *options, "generated")
