"""Fixtures for the promise that a spec can change what the tools say, not what code does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.forked import Forks, forks
from tests.safety.benign_twin import Specs, assert_twin
from tests.safety.hostile_cases import Outcome, lay_out, run_generate
from tests.safety.payloads import PAYLOADS, toolset_of


@pytest.fixture
def twin_of(tmp_path: Path) -> Callable[[Specs], None]:
    """Generates a toolset and its benign twin, and compares their structure."""
    return lambda specs: assert_twin(tmp_path, specs)


@pytest.fixture(params=range(len(PAYLOADS)), ids=lambda n: PAYLOADS[n][:20])
def hostile_toolset(request: pytest.FixtureRequest) -> Specs:
    """A toolset with one of the hostile texts in every place for text."""
    return toolset_of(PAYLOADS[request.param])


@pytest.fixture
def hostile_toolsets() -> list[Specs]:
    """The toolset of each hostile text."""
    return [toolset_of(text) for text in PAYLOADS]


@pytest.fixture
def toolset_with() -> Callable[[str], Specs]:
    """Makes a toolset with a text in every place for text."""
    return toolset_of


@pytest.fixture
def hostile(tmp_path: Path) -> Callable[[str], Path]:
    """Lays one case of the corpus out in a temporary folder."""
    return lambda case: lay_out(case, tmp_path / "project")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    """Runs what was generated, by a process that has loaded the runtime."""
    loaded = ("toolcast_runtime.langchain", "langchain_core.tools")
    with forks(tmp_path_factory.mktemp("streams"), *loaded) as running:
        yield running


@pytest.fixture(scope="session")
def generated_by() -> Callable[..., Outcome]:
    """Runs `toolcast generate` over a project."""
    return run_generate


@pytest.fixture(scope="session")
def lay_out_one() -> Callable[[str, Path], Path]:
    """Lays one case out in a folder of one's own."""
    return lay_out
