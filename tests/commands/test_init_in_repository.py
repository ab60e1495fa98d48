"""`toolcast init` in a repository's subfolder: the workflow is written for GitHub."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.commands.run_module import run
from tests.git_command import run_git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "mono"
    folder.mkdir()
    run_git(folder, "init", "--quiet")
    return folder


def read_job(workflow: Path) -> dict[str, object]:
    job: dict[str, object] = yaml.safe_load(workflow.read_text())["jobs"]["check"]
    return job


@pytest.mark.parametrize("folder", ["services/agent tools", "agent"])
def test_init_with_a_subfolder_writes_a_workflow_named_after_it_to_the_repository_root(
    repository: Path, folder: str
) -> None:
    output = run(repository, "toolcast", "init", folder).stdout
    [workflow] = (repository / ".github/workflows").iterdir()
    assert workflow.name in ("toolcast-services-agent-tools.yml", "toolcast-agent.yml")
    assert read_job(workflow)["defaults"] == {"run": {"working-directory": folder}}
    assert not (repository / folder / ".github").exists()
    assert f".github/workflows/{workflow.name}" in output
    assert (repository / folder / "toolcast.yaml").is_file()


def test_init_run_in_a_subfolder_prints_the_repository_workflows_relative_path(
    repository: Path,
) -> None:
    (repository / "agent").mkdir()
    output = run(repository / "agent", "toolcast", "init").stdout
    assert "files in this folder, and ../.github/workflows/toolcast-agent.yml" in output
    assert (repository / "agent/Makefile").is_file()


def test_init_with_an_existing_workflow_writes_nothing(repository: Path) -> None:
    existing = repository / ".github/workflows/toolcast-agent.yml"
    existing.parent.mkdir(parents=True)
    existing.write_text("mine\n")
    error = run(repository, "toolcast", "init", "agent", expect=2).stderr
    assert "this path exists" in error and "toolcast-agent.yml" in error
    assert "help" not in error, "another folder would not help"
    assert existing.read_text() == "mine\n"
    assert not (repository / "agent").exists()


def test_root_project_init_workflow_sets_no_working_directory(repository: Path) -> None:
    run(repository, "toolcast", "init")
    job = read_job(repository / ".github/workflows/toolcast.yml")
    assert "defaults" not in job
