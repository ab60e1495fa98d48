"""Fixtures of the safety tests: hostile projects, and comparison of generated code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.forked import ForkServer, start_fork_server
from tests.safety.benign_twin import Specs, check_same_structure
from tests.safety.hostile_cases import Outcome, copy_hostile_case, run_generate
from tests.safety.payloads import PAYLOADS, make_text_toolset


@pytest.fixture
def assert_same_structure(tmp_path: Path) -> Callable[[Specs], None]:
    """Return a function that compares the code of a toolset with that of its twin."""
    return lambda specs: check_same_structure(tmp_path, specs)


@pytest.fixture(params=range(len(PAYLOADS)), ids=lambda n: PAYLOADS[n][:20])
def hostile_toolset(request: pytest.FixtureRequest) -> Specs:
    """Return a toolset with one of the hostile strings in every text field."""
    return make_text_toolset(PAYLOADS[request.param])


@pytest.fixture
def hostile_toolsets() -> list[Specs]:
    """Return a toolset for each hostile string."""
    return [make_text_toolset(text) for text in PAYLOADS]


@pytest.fixture
def make_toolset() -> Callable[[str], Specs]:
    """Return a function that creates a toolset with a string in every text field."""
    return make_text_toolset


@pytest.fixture
def make_hostile_project(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that copies a case of the corpus to a temporary folder."""
    return lambda case: copy_hostile_case(case, tmp_path / "project")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    """Start a process with the loaded runtime, which runs generated code in forks."""
    loaded = ("toolcast_runtime.langchain", "langchain_core.tools")
    with start_fork_server(tmp_path_factory.mktemp("streams"), *loaded) as running:
        yield running


@pytest.fixture(scope="session")
def generate() -> Callable[..., Outcome]:
    """Return a function that runs `toolcast generate` on a project."""
    return run_generate


@pytest.fixture(scope="session")
def copy_case() -> Callable[[str, Path], Path]:
    """Return a function that copies a case of the corpus to a folder."""
    return copy_hostile_case
