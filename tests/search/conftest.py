"""Fixtures: a shop whose tools require confirmation and, except one, need a search."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.consent.shop_clients import Shop
from tests.mcp.projects import generate_project

SHOP = Path(__file__).parents[1] / "consent" / "project"


@pytest.fixture(scope="session")
def searched_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate the shop with tool search; return its root folder."""
    root = tmp_path_factory.mktemp("searched")
    shutil.copytree(SHOP, root, dirs_exist_ok=True)
    toolset = root / "specs/shop/toolset.yaml"
    text = toolset.read_text("utf-8")
    toolset.write_text(text.replace("  mcp:\n", "  mcp:\n    search: true\n"), "utf-8")
    with (root / "specs/shop/set_price.yaml").open("a", encoding="utf-8") as spec:
        spec.write("always: true\n")
    generate_project(root)
    return root


@pytest.fixture
def shop(searched_root: Path, tmp_path: Path) -> Shop:
    """Return the shop with its own folder for results and the ledger."""
    return Shop(searched_root, tmp_path)
