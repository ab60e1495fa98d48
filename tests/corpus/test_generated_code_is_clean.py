"""Generated code passes ruff with its default rules and `mypy --strict`."""

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
    """Generate a toolset for each tool list, with all targets without settings."""
    root = tmp_path_factory.mktemp("clean")
    import_lists(root, LISTS, TARGETS)
    generate_project(root)
    return root


def assert_passes(folder: Path, *command: str) -> None:
    """Run a Python module in a folder and assert that it succeeds."""
    result = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True
    )
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]


@pytest.mark.slow
def test_code_generated_from_public_mcp_servers_passes_ruff_with_default_rules(
    project: Path,
) -> None:
    assert_passes(project, "ruff", "check", "--isolated", "--no-cache", "generated")


def test_generated_files_in_this_repository_pass_ruff_with_default_rules() -> None:
    root = Path(__file__).parents[2]
    assert_passes(root, "ruff", "check", "--isolated", "--no-cache", "generated")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_code_generated_from_public_mcp_servers_passes_mypy_strict(
    project: Path, mypy_cache: str
) -> None:
    options = ("--strict", "--explicit-package-bases", "--cache-dir", mypy_cache)
    assert_passes(project, "mypy", *options, "generated")
