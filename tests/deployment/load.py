"""A client that calls continuously while servers start and stop."""

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
    """Send one call after the other with the SDK's client until `is_over`.

    After an exception, a new client continues. `options` are the client's.
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
