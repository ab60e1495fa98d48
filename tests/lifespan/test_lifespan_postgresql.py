"""A PostgreSQL connection is used and closed in its own event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.lifespan.conftest import Toolset
from tests.postgres import PostgresUnavailableError, postgres_server
from toolcast_runtime.lifespan import LifespanError

psycopg = pytest.importorskip("psycopg")
pytestmark = pytest.mark.slow

Make = Callable[..., Toolset]
SOURCE = """
    import os
    import psycopg

    @asynccontextmanager
    async def lifespan():
        address = os.environ["SHOP_DATABASE"]
        async with await psycopg.AsyncConnection.connect(address, autocommit=True) as db:
            await db.execute("CREATE TEMPORARY TABLE rows (id serial, text text)")
            yield {"db": db}

    async def insert(text, *, db):
        insert = "INSERT INTO rows (text) VALUES (%s) RETURNING id"
        return (await (await db.execute(insert, (text,))).fetchone())[0]
"""
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    try:
        with postgres_server("shop", "watch") as addresses:
            yield addresses["shop"]
    except PostgresUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def address(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SHOP_DATABASE", server)
    return server


def count_connections(address: str) -> int:
    """Return the number of other connections."""
    with psycopg.connect(address) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchone()
    assert found is not None
    return int(found[0])


def test_tool_calls_from_loops_and_threads_share_the_lifespans_postgresql_connection(
    make_toolset: Make, address: str
) -> None:
    toolset = make_toolset(SOURCE, insert=TEXT)
    registry = toolset.registry
    results: list[Any] = []

    def from_a_thread() -> None:
        response = registry.call_tool_sync("insert", {"text": "thread"})
        results.append(response.result)

    async def in_a_loop() -> None:
        async with registry:
            assert count_connections(address) == 1
            calls = [registry.call_tool("insert", {"text": "a"}) for _ in range(10)]
            results.extend(each.result for each in await asyncio.gather(*calls))
            await asyncio.to_thread(from_a_thread)
            other = threading.Thread(target=lambda: asyncio.run(in_another_loop()))
            other.start()
            await asyncio.to_thread(other.join)
            assert count_connections(address) == 1

    async def in_another_loop() -> None:
        response = await registry.call_tool("insert", {"text": "loop"})
        results.append(response.result)

    asyncio.run(in_a_loop())
    assert sorted(results) == list(range(1, 13))
    assert count_connections(address) == 0


def test_postgresql_connection_opened_by_the_first_call_is_closed_by_registry_close(
    make_toolset: Make, address: str
) -> None:
    registry = make_toolset(SOURCE, insert=TEXT).registry
    assert registry.call_tool_sync("insert", {"text": "a"}).error is None
    assert asyncio.run(registry.call_tool("insert", {"text": "a"})).error is None
    assert count_connections(address) == 1
    asyncio.run(registry.close())
    assert count_connections(address) == 0


async def test_lifespan_error_for_an_unreachable_postgresql_omits_the_password(
    make_toolset: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = "postgresql://nobody:secret@127.0.0.1:1/none"
    monkeypatch.setenv("SHOP_DATABASE", nowhere)
    toolset = make_toolset(SOURCE, insert=TEXT)
    with pytest.raises(LifespanError) as failed:
        await toolset.registry.__aenter__()
    message = str(failed.value)
    assert "OperationalError" in message and "127.0.0.1" in message
    assert f"{toolset.work.__file__}:" in message
    assert "secret" not in message
