"""A port that a server is to listen on, known before the server is there."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["kept_port"]


@contextmanager
def kept_port() -> Iterator[int]:
    """A port of the loopback interface that nobody else is given until the end.

    Here it is bound and not listened on, so the system gives it to nobody. A server that
    allows an address to be used again, as uvicorn and asyncio do, may listen on it, and
    another one after it.
    """
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        yield int(kept.getsockname()[1])
