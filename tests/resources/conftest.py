"""The project of a shop with resources and MCP prompts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.mcp.projects import generate_project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("offers")
    shutil.copytree(Path(__file__).parent / "project", root, dirs_exist_ok=True)
    generate_project(root)
    return root
