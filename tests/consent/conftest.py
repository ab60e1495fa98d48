"""The shop, whose tools ask a person first, generated once a session."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.consent.counters import Shop
from tests.mcp.projects import generate_project
from toolcast_runtime import Registry


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


@pytest.fixture
def registry(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """The shop's registry in this process."""
    for name, value in shop.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(shop.root))
    # Another project's package may have this name.
    for name in _modules():
        monkeypatch.delitem(sys.modules, name)
    yield importlib.import_module("generated.shop.registry").REGISTRY
    for name in _modules():
        del sys.modules[name]


def _modules() -> list[str]:
    return [name for name in sys.modules if name.split(".")[0] in ("generated", "shop")]
