"""Fixtures for a toolset on a fake Letta server and, on request, on a real one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from letta.tests.changing_mcp import ChangingMcp, changing_mcp
from letta.tests.fake_letta import FakeLetta
from letta.tests.real.cleaning import clean_server
from letta.tests.real.server import letta_server
from letta.tests.stage import Stage, start_stage
from letta.tests.toy import HANDLERS, TOOLS, TOOLSET, make_toy, toy
from tests.conftest import (
    _use_temporary_cache,
    _use_temporary_ledger,
    mypy_cache,
    outside,
    project_copy,
    pytest_collection,
    pytest_xdist_auto_num_workers,
    time_limit,
)
from tests.conftest import make_project as make_any_project

# Fixtures and hooks of the core's tests that these tests also use.
__all__ = [
    "_use_temporary_cache",
    "_use_temporary_ledger",
    "clean_letta",
    "time_limit",
    "make_any_project",
    "make_toy",
    "mypy_cache",
    "outside",
    "project_copy",
    "pytest_collection",
    "pytest_xdist_auto_num_workers",
    "real_letta",
    "stage",
    "toy",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Extend the timeout of tests that need a real server, which starts slowly."""
    for item in items:
        if item.get_closest_marker("letta") is not None:
            item.add_marker(pytest.mark.timeout(400))


@pytest.fixture(autouse=True)
def no_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make TLS contexts empty: no test uses TLS, and loading certificates is slow."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))


@pytest.fixture(autouse=True)
def isolated_seal_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Store the key that signs saved files in the test's folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user-state"))


@pytest.fixture
def make_project(make_any_project: Callable[..., Any]) -> Callable[..., Any]:
    """Return the core's `make_project` for projects that list the extension."""
    return partial(make_any_project, workspace="extensions: [letta]\n")


@pytest.fixture(scope="session")
def real_letta() -> Iterator[str]:
    """Yield the base URL of a real Letta server: $TOOLCAST_TEST_LETTA or a new one."""
    setting = os.environ.get("TOOLCAST_TEST_LETTA", "")
    if not setting:
        pytest.skip("make test-letta-real runs the tests against a real Letta server")
    if setting.startswith("http"):
        yield setting
        return
    with letta_server() as base_url:
        yield base_url


@pytest.fixture
def clean_letta(real_letta: str) -> str:
    """Delete a real server's agents, MCP servers and custom tools; return its URL."""
    clean_server(real_letta)
    return real_letta


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.letta)])
def stage(
    request: pytest.FixtureRequest, make_project: Callable[..., Any], tmp_path: Path
) -> Iterator[Stage]:
    """Yield the toolset and its MCP server, on a fake and on a real Letta server."""
    project = make_project(TOOLS, toolset=TOOLSET, handlers=HANDLERS)
    if request.param == "real":
        url = request.getfixturevalue("clean_letta")
        with (
            changing_mcp() as mcp,
            start_stage(url, project, tmp_path / "state", mcp) as stage,
        ):
            yield stage
        return
    with FakeLetta() as fake:
        mcp = ChangingMcp("http://localhost/mcp")
        fake.world.servers[mcp.url] = mcp
        with start_stage(fake.url, project, tmp_path / "state", mcp) as stage:
            yield stage
