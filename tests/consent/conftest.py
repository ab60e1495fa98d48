"""Fixtures for the shop, a project with tools that require confirmation."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.consent.shop_clients import Shop
from tests.mcp.projects import generate_project
from toolcast_runtime import Registry


@pytest.fixture(scope="session")
def shop_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy and generate the shop's project; return its root folder."""
    root = tmp_path_factory.mktemp("consent")
    shutil.copytree(Path(__file__).with_name("project"), root, dirs_exist_ok=True)
    generate_project(root)
    return root


@pytest.fixture
def shop(shop_root: Path, tmp_path: Path) -> Shop:
    """Return the shop with its side effects and ledger in this test's own folder."""
    return Shop(shop_root, tmp_path)


@pytest.fixture
def registry(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """Load the shop's registry in this process."""
    for name, value in shop.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(shop.root))
    # Tests of other projects import packages with the same names.
    for name in _list_shop_modules():
        monkeypatch.delitem(sys.modules, name)
    yield importlib.import_module("generated.shop.registry").REGISTRY
    for name in _list_shop_modules():
        del sys.modules[name]


def _list_shop_modules() -> list[str]:
    """Return the names of the imported modules of the shop."""
    return [name for name in sys.modules if name.split(".")[0] in ("generated", "shop")]
