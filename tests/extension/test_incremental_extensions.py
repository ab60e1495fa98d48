"""What other packages bring is not forgotten by a run that builds on an earlier one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.extension.conftest import MODULE, with_generator

SPEC = """
summary: Greet somebody.
parameters: {type: object, properties: {}}
"""


@pytest.fixture(params=["house", "house.rules.of_ours"])
def module(request: pytest.FixtureRequest) -> str:
    """A module by itself, and one of a package whose folders have no `__init__.py`."""
    name: str = request.param
    return name


@pytest.fixture
def site(tmp_path: Path, module: str) -> Path:
    """A folder in which the package is installed."""
    site = tmp_path / "site"
    file = site.joinpath(*module.split(".")).with_suffix(".py")
    file.parent.mkdir(parents=True)
    file.write_text(MODULE)
    info = site / "toolcast_house-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: toolcast-house\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(
        f"[toolcast.rules]\npolite = {module}:RULE\n"
    )
    return site


def test_a_rule_of_a_package_runs_in_every_run(
    make_project: Callable[..., Any], site: Path, module: str
) -> None:
    project = make_project(
        {"ann": SPEC, "ben": SPEC}, toolset="targets: {prompts: {}}\n"
    )
    environment = {"PYTHONPATH": with_generator(site)}

    def told() -> int:
        time.sleep(0.05)  # what was changed just before a run is not remembered
        done = project.toolcast("generate", env=environment)
        assert done.returncode == 0, done.stderr
        said: str = done.stderr
        return said.count("warning: house/polite")

    assert told() == 2
    project.edit("specs/toy/ben.yaml", "Greet", "Welcome")
    assert told() == 2
    project.edit("specs/toy/ben.yaml", "Welcome", "Please do please, welcome")
    assert told() == 1
    # Nor is it taken for what it was when its code changes.
    file = site.joinpath(*module.split(".")).with_suffix(".py")
    file.write_text(MODULE.replace('"please" not in', '"somebody" not in'))
    assert told() == 0
