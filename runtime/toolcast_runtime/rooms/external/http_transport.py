"""The MCP SDK's streamable HTTP transport with answers of bounded size."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from ...core.server_settings import Resolved

_CONNECT_SECONDS = 10.0
_READ_SECONDS = 300.0
_CONNECTIONS = 20


@asynccontextmanager
async def http_transport(
    server: Resolved, most_bytes: int
) -> AsyncGenerator[tuple[Any, Any], None]:
    """The two streams that the SDK's client speaks through.

    Proxies and .netrc are not used, and no redirect leaves the server's origin.
    """
    timeout = httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS)
    limits = httpx2.Limits(max_connections=_CONNECTIONS)
    transport = _Bounded(most_bytes, httpx2.AsyncHTTPTransport(limits=limits))
    async with (
        httpx2.AsyncClient(
            headers=dict(server.headers),
            timeout=timeout,
            transport=transport,
            trust_env=False,
        ) as client,
        streamable_http_client(
            server.url, http_client=client, max_sse_event_size=most_bytes
        ) as streams,
    ):
        yield streams


class _Bounded(httpx2.AsyncBaseTransport):
    """Ends an answer that is no event stream where it becomes too long.

    An event stream may go on for days; the SDK bounds each of its events.
    """

    def __init__(self, most: int, inner: httpx2.AsyncBaseTransport) -> None:
        self._most = most
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        # What is packed is small on the wire and may be anything when unpacked.
        request.headers["accept-encoding"] = "identity"
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.ReadError("the answer is packed, which was not asked for")
        kind = response.headers.get("content-type", "")
        stream = response.stream
        if not kind.startswith("text/event-stream") and isinstance(
            stream, httpx2.AsyncByteStream
        ):
            response.stream = _BoundedStream(self._most, stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, most: int, inner: httpx2.AsyncByteStream) -> None:
        self._left = most
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.ReadError("the answer is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
