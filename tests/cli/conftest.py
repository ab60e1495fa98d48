"""Commands as a shell runs them, with data of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs `python -m generated.<toolset>.cli WORDS`; data goes below tmp_path."""

    def run(
        toolset: str, *words: str | bytes, **env: str
    ) -> subprocess.CompletedProcess[str]:
        own = {"KIRISHIMA_DATA": "kirishima", "MOLECULE_HOME": "molecule"}
        data = {name: str(tmp_path / folder) for name, folder in own.items()}
        return subprocess.run(
            [sys.executable, "-m", f"generated.{toolset}.cli", *words],
            cwd=ROOT,
            env={**os.environ, **data, "COLUMNS": "80", **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
        )

    return run
