"""Wheels of the three distributions, and a project made by `toolcast init`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.run_module import run
from tests.packaging.environments import build

ROOT = Path(__file__).parents[2]
FOLDERS = {
    "toolcast": ROOT,
    "toolcast-runtime": ROOT / "runtime",
    "toolcast-letta": ROOT / "letta",
}


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build a wheel of each distribution from the checkout, without an index."""
    folder = tmp_path_factory.mktemp("wheels")
    return {name: build(source, folder) for name, source in FOLDERS.items()}


@pytest.fixture(scope="session")
def demo_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate a new project for tests that only read it."""
    folder = tmp_path_factory.mktemp("demo")
    run(folder, "toolcast", "init", "--name", "demo")
    run(folder, "toolcast", "generate")
    return folder
