"""Fixture of the safety tests: a process that imports generated code."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.forked import ForkServer, start_fork_server


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    """Start a process with the loaded runtime, which runs generated code in forks."""
    loaded = ("toolcast_runtime.langchain", "langchain_core.tools")
    with start_fork_server(tmp_path_factory.mktemp("streams"), *loaded) as running:
        yield running
