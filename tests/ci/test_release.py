"""The workflow of a release: its form, what it may do, and its steps as bash runs them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.ci.test_action import _schema
from toolcast import __version__

ROOT = Path(__file__).parents[2]
FILE = ROOT / ".github/workflows/release.yml"
WORKFLOW: dict[Any, Any] = yaml.safe_load(FILE.read_text("utf-8"))
BUILD, PUBLISH = WORKFLOW["jobs"]["build"], WORKFLOW["jobs"]["publish"]
STEPS = {step["name"]: step for step in BUILD["steps"] if "name" in step}
NAMES = ("toolcast", "toolcast_runtime", "toolcast_letta")


def test_it_is_valid_by_the_schema_of_workflows() -> None:
    named = {"on" if key is True else key: value for key, value in WORKFLOW.items()}
    jsonschema.Draft7Validator(_schema("github-workflows")).validate(named)


def test_only_a_tag_starts_it_and_only_a_switch_publishes() -> None:
    assert WORKFLOW[True] == {"push": {"tags": ["v[0-9]*"]}}
    assert PUBLISH["if"] == "vars.PUBLISH == 'true'" and PUBLISH["needs"] == "build"
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert PUBLISH["permissions"] == {"id-token": "write"}
    assert "permissions" not in BUILD


def test_no_host_and_no_secret_is_named_and_no_script_has_an_expression() -> None:
    text = FILE.read_text("utf-8")
    assert not re.search(r"https?:|\.(org|com|io|dev)\b|secrets\.", text)
    scripts = [step.get("run", "") for job in (BUILD, PUBLISH) for step in job["steps"]]
    assert [script for script in scripts if "${{" in script] == []


def hold(folder: Path, tag: str) -> int:
    """Runs the step that compares what is built with the tag."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    return subprocess.run(
        [*command, STEPS["Check the versions against the tag"]["run"]],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "TAG": tag},
        capture_output=True,
    ).returncode


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """What `make build` leaves of a version."""
    dist = tmp_path / "dist"
    dist.mkdir()
    for name in NAMES:
        for end in ("-py3-none-any.whl", ".tar.gz"):
            (dist / f"{name}-{__version__}{end}").touch()
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{__version__}]\n")
    return tmp_path


def test_what_is_built_is_of_the_tag(built: Path) -> None:
    assert hold(built, f"v{__version__}") == 0
    assert hold(built, "v9.9.9") != 0


def test_all_three_and_nothing_else(built: Path) -> None:
    (built / "dist/other.whl").touch()
    assert hold(built, f"v{__version__}") != 0
    (built / "dist/other.whl").unlink()
    (built / f"dist/{NAMES[1]}-{__version__}.tar.gz").unlink()
    assert hold(built, f"v{__version__}") != 0


def test_the_changelog_tells_of_the_version(built: Path) -> None:
    (built / "CHANGELOG.md").write_text("## [Unreleased]\n")
    assert hold(built, f"v{__version__}") != 0
