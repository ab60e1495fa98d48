"""How many connections there is room for, and who is asked to come again."""

from __future__ import annotations

import pytest

from tests.http.test_http_pieces import HEAD, answering, connected
from toolcast_runtime.serve.http import connections

resource = pytest.importorskip("resource")


@pytest.mark.parametrize(
    ("descriptors", "most", "admitted"),
    [
        (-1, 1_200, 1_000),
        (100_000, 1_200, 1_000),
        (1_600, 1_200, 800),
        (1_596, 1_197, 798),
        (100, 75, 50),
        (22, 16, 16),
        (23, 17, 16),
        (0, 16, 16),
    ],
)
def test_there_is_room_as_there_are_descriptors(
    monkeypatch: pytest.MonkeyPatch, descriptors: int, most: int, admitted: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, -1))
    assert connections.most_connections() == most
    assert connections.most_admitted() == admitted


async def test_who_waits_among_many_gets_a_last_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More than a quarter of all; the others may go on as they are."""
    monkeypatch.setattr(connections, "most_connections", lambda: 4)
    async with connected(answering) as (_, reader, writer):
        writer.write(HEAD % 1 + b"a")
        alone = await reader.readuntil(b" a")
        async with connected(answering) as (_, other, begun):
            begun.write(HEAD % 1 + b"a")
            among = await other.readuntil(b" a")
    assert b"connection: close" not in alone
    assert b"connection: close" in among
