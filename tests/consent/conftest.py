"""The shop, whose tools ask a person first, generated once a session."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.consent.counters import Shop
from tests.mcp.projects import generate_project


@pytest.fixture(scope="session")
def shop_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of the generated project."""
    root = tmp_path_factory.mktemp("consent")
    shutil.copytree(Path(__file__).with_name("project"), root, dirs_exist_ok=True)
    generate_project(root)
    return root


@pytest.fixture
def shop(shop_root: Path, tmp_path: Path) -> Shop:
    """The project with a place of its own for what is done, and for the ledger."""
    return Shop(shop_root, tmp_path)
