"""`toolcast init` in a folder of a larger repository: GitHub finds its workflow."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.commands.running import run


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "mono"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    return folder


def steps_of(workflow: Path) -> dict[str, object]:
    job: dict[str, object] = yaml.safe_load(workflow.read_text())["jobs"]["check"]
    return job


@pytest.mark.parametrize("folder", ["services/agent tools", "agent"])
def test_the_workflow_stands_where_github_looks(repository: Path, folder: str) -> None:
    said = run(repository, "toolcast", "init", folder).stdout
    [workflow] = (repository / ".github/workflows").iterdir()
    assert workflow.name in ("toolcast-services-agent-tools.yml", "toolcast-agent.yml")
    assert steps_of(workflow)["defaults"] == {"run": {"working-directory": folder}}
    assert not (repository / folder / ".github").exists()
    assert f".github/workflows/{workflow.name}" in said
    assert (repository / folder / "toolcast.yaml").is_file()


def test_from_within_the_folder(repository: Path) -> None:
    (repository / "agent").mkdir()
    said = run(repository / "agent", "toolcast", "init").stdout
    assert "files in this folder, and ../.github/workflows/toolcast-agent.yml" in said
    assert (repository / "agent/Makefile").is_file()


def test_two_projects_of_a_repository_have_a_workflow_each(repository: Path) -> None:
    run(repository, "toolcast", "init", "one")
    run(repository, "toolcast", "init", "two")
    names = {path.name for path in (repository / ".github/workflows").iterdir()}
    assert names == {"toolcast-one.yml", "toolcast-two.yml"}


def test_a_workflow_that_is_there_stays_and_nothing_is_written(
    repository: Path,
) -> None:
    mine = repository / ".github/workflows/toolcast-agent.yml"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    said = run(repository, "toolcast", "init", "agent", expect=2).stderr
    assert "this path exists" in said and "toolcast-agent.yml" in said
    assert "help" not in said, "another folder would not help"
    assert mine.read_text() == "mine\n"
    assert not (repository / "agent").exists()


def test_a_project_that_is_its_own_repository(repository: Path) -> None:
    run(repository, "toolcast", "init")
    job = steps_of(repository / ".github/workflows/toolcast.yml")
    assert "defaults" not in job
