"""Generated commands, run as by a shell, each test with its own data."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.forked import ForkServer, start_fork_server

ROOT = Path(__file__).parents[2]
Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    loaded = ("toolcast_runtime.cli", "toolcast_runtime.ledger")
    with start_fork_server(tmp_path_factory.mktemp("streams"), *loaded) as running:
        yield running


@pytest.fixture
def shell(tmp_path: Path, programs: ForkServer) -> Shell:
    """Return a function that runs `python -m generated.TOOLSET.cli ARGUMENTS`.

    Data is written to tmp_path.
    """

    def run(
        toolset: str, *arguments: str | bytes, **env: str
    ) -> subprocess.CompletedProcess[str]:
        data_folders = {"KIRISHIMA_DATA": "kirishima", "MOLECULE_HOME": "molecule"}
        data = {name: str(tmp_path / folder) for name, folder in data_folders.items()}
        program = (f"generated.{toolset}.cli", *map(os.fsdecode, arguments))
        return programs.run(ROOT, *program, env={**data, "COLUMNS": "80", **env})

    return run
