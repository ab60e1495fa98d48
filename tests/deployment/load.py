"""A client that goes on calling, whatever becomes of the servers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

__all__ = ["keep_calling"]


async def keep_calling(
    url: str,
    headers: Mapping[str, str],
    call: Callable[[Client], Awaitable[None]],
    is_over: Callable[[], bool],
    **options: Any,
) -> None:
    """Calls until it is over, one call after the other, by the SDK's own client.

    Where a call raises, a new client goes on. `options` are the client's.
    """
    while not is_over():
        with suppress(Exception):
            async with (
                httpx2.AsyncClient(headers=dict(headers), timeout=60) as http,
                Client(
                    streamable_http_client(url, http_client=http), **options
                ) as client,
            ):
                while not is_over():
                    await call(client)
