"""Fixture: a generated project whose toolsets have skills."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.mcp.projects import generate_project


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("skills")
    shutil.copytree(Path(__file__).parent / "project", root, dirs_exist_ok=True)
    generate_project(root)
    return root
