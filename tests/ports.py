"""Free ports for servers that start later."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["find_free_port", "reserve_port"]


@contextmanager
def reserve_port() -> Iterator[int]:
    """Reserve a free port of the loopback interface.

    A socket is bound to it but does not listen, so the system assigns it to no other process.
    Servers that set SO_REUSEADDR, as uvicorn and asyncio do, can listen on it in turn.
    """
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])


def find_free_port() -> int:
    """Return a port that is free now, for servers that do not set SO_REUSEADDR."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
