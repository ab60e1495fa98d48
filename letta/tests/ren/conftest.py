"""Fixtures for ren's tools: temporary databases and a fake Letta server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from examples.ren.databases import get_engine
from generated.ren.registry import call_tool_sync
from letta.tests.fake_letta import FakeLetta
from tests.postgres import PostgresUnavailableError, postgres_server

VARIABLES = tuple(
    (
        "REN_DATA REN_DATABASE_URL REN_MEMORY_DATABASE_URL REN_AGENT_ID "
        "LETTA_BASE_URL LETTA_API_KEY HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy "
        "https_proxy all_proxy"
    ).split()
)
BLOCKS = {
    "persona": "I am Ren.",
    "open_threads": "- [ ] Decide on the gate.",
    "claude_plus_manners": "Ask before you assume.",
}

Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def isolated_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove ren's variables from the environment; store data below tmp_path."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("REN_DATA", str(tmp_path / "data"))


@pytest.fixture
def letta(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLetta]:
    """Run a fake Letta server with ren's agent, blocks and passages."""
    with FakeLetta() as fake:
        agent = fake.world.create_agent({"name": "ren", "agent_type": "letta_v1_agent"})
        for label, value in BLOCKS.items():
            fake.world.add_block(agent, label, value)
        for number in (1, 7):
            passage = {"id": f"passage-{number}", "text": f"Passage {number}."}
            agent.passages[passage["id"]] = passage
        monkeypatch.setenv("LETTA_BASE_URL", fake.url)
        monkeypatch.setenv("REN_AGENT_ID", agent.id)
        yield fake


@pytest.fixture
def call() -> Call:
    """Return a function that calls a tool and returns its result."""

    def run(tool: str, **arguments: Any) -> Any:
        response = call_tool_sync(tool, arguments, "claude")
        assert response.error is None, f"{tool}: {response.error}"
        return response.result

    return run


@pytest.fixture
def call_for_error() -> Callable[..., str]:
    """Return a function that calls a tool that must fail and returns the error text."""

    def run(tool: str, **arguments: Any) -> str:
        response = call_tool_sync(tool, arguments, "claude")
        assert response.error is not None, f"{tool}: {response.result}"
        return response.error

    return run


@pytest.fixture(scope="session")
def postgres() -> Iterator[tuple[str, str]]:
    """Yield the URLs of two PostgreSQL databases: main and memory."""
    try:
        with postgres_server("ren_main", "ren_memory") as urls:
            yield urls["ren_main"], urls["ren_memory"]
    except PostgresUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def on_postgres(
    postgres: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Store both pools in empty PostgreSQL databases."""
    for variable, url in zip(
        ("REN_DATABASE_URL", "REN_MEMORY_DATABASE_URL"), postgres, strict=True
    ):
        monkeypatch.setenv(variable, url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
    get_engine.cache_clear()
    yield
    # The connections are closed when the server stops.
    get_engine.cache_clear()
