"""Release workflow: validity, permissions, and the version check run by bash."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.ci.test_action import load_schema
from toolcast import __version__

ROOT = Path(__file__).parents[2]
WORKFLOW_FILE = ROOT / ".github/workflows/release.yml"
WORKFLOW: dict[Any, Any] = yaml.safe_load(WORKFLOW_FILE.read_text("utf-8"))
BUILD, PUBLISH = WORKFLOW["jobs"]["build"], WORKFLOW["jobs"]["publish"]
STEPS = {step["name"]: step for step in BUILD["steps"] if "name" in step}
DISTRIBUTIONS = ("toolcast", "toolcast_runtime", "toolcast_letta")


def test_release_workflow_is_valid_against_the_github_schema() -> None:
    workflow = {"on" if key is True else key: value for key, value in WORKFLOW.items()}
    jsonschema.Draft7Validator(load_schema("github-workflows")).validate(workflow)


def test_release_workflow_runs_on_tags_and_publishes_only_if_publish_is_true() -> None:
    assert WORKFLOW[True] == {"push": {"tags": ["v[0-9]*"]}}
    assert PUBLISH["if"] == "vars.PUBLISH == 'true'" and PUBLISH["needs"] == "build"
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert PUBLISH["permissions"] == {"id-token": "write"}
    assert "permissions" not in BUILD


def test_release_workflow_has_no_urls_secrets_or_script_expressions() -> None:
    text = WORKFLOW_FILE.read_text("utf-8")
    assert not re.search(r"https?:|\.(org|com|io|dev)\b|secrets\.", text)
    scripts = [step.get("run", "") for job in (BUILD, PUBLISH) for step in job["steps"]]
    assert [script for script in scripts if "${{" in script] == []


def check_versions(folder: Path, tag: str) -> int:
    """Run the step that checks built files against a tag; return its exit code."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    return subprocess.run(
        [*command, STEPS["Check the versions against the tag"]["run"]],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "TAG": tag},
        capture_output=True,
    ).returncode


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write the files of `make build` and a changelog of the current version."""
    dist = tmp_path / "dist"
    dist.mkdir()
    for name in DISTRIBUTIONS:
        for suffix in ("-py3-none-any.whl", ".tar.gz"):
            (dist / f"{name}-{__version__}{suffix}").touch()
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{__version__}]\n")
    return tmp_path


def test_release_workflow_fails_if_the_built_version_differs_from_the_tag(
    project: Path,
) -> None:
    assert check_versions(project, f"v{__version__}") == 0
    assert check_versions(project, "v9.9.9") != 0


def test_release_workflow_fails_on_extra_or_missing_wheels_or_sdists(
    project: Path,
) -> None:
    (project / "dist/other.whl").touch()
    assert check_versions(project, f"v{__version__}") != 0
    (project / "dist/other.whl").unlink()
    (project / f"dist/{DISTRIBUTIONS[1]}-{__version__}.tar.gz").unlink()
    assert check_versions(project, f"v{__version__}") != 0


def test_release_workflow_fails_without_changelog_section_for_the_version(
    project: Path,
) -> None:
    (project / "CHANGELOG.md").write_text("## [Unreleased]\n")
    assert check_versions(project, f"v{__version__}") != 0
