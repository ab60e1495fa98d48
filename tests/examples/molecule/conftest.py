"""Fixtures for molecule: state folder, running workspaces and tool calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.molecule.platform import Platform
from tests.examples.example_specs import call_handler, load_tool_specs

WORKSPACES: dict[str, list[str]] = {
    "ws-director": [],
    "ws-research": [],
    "ws-writing": ["--delay", "0.4"],
    "ws-harbor": [],
}

Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the test's own state folder; the acting workspace is the default one."""
    for name in ("MOLECULE_WORKSPACE_ID", "MOLECULE_PLUGIN_SOURCES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MOLECULE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Run the workspaces for the whole session; yield their state folder."""
    folder = tmp_path_factory.mktemp("platform")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOLECULE_HOME", str(folder))
        platform = Platform(WORKSPACES)
        platform.start()
    yield folder
    platform.stop()


@pytest.fixture
def platform(running: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set the running workspaces' state folder as the test's own."""
    monkeypatch.setenv("MOLECULE_HOME", str(running))
    return running


@pytest.fixture
def call() -> Call:
    """Return a function that calls a handler and validates arguments and result."""
    specs = load_tool_specs("molecule")
    return lambda tool, **arguments: call_handler(specs[tool], arguments)
