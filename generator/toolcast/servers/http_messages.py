"""A server's JSON-RPC messages over streamable HTTP, each exactly as it is sent.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from toolcast_runtime.external.server_settings import Resolved

from ..reading.exact_json import JsonProblem, read_json
from .messages import MOST_BYTES
from .server_listing import ListingError

if TYPE_CHECKING:
    import httpx2

__all__ = ["HttpMessages"]

_ACCEPTED = "application/json, text/event-stream"
_PAGE_OF_EVENTS = "text/event-stream"


class HttpMessages:
    """The messages of a server at a URL. Use it in an `async with`.

    Proxies, .netrc and redirects are not followed. It has what `StdioMessages` has.
    """

    def __init__(self, server: Resolved) -> None:
        self.noise: list[str] = []
        self.twice: dict[str, None] = {}
        self.changed: set[str] = set()
        self._server = server
        self._session: str | None = None
        self._protocol: str | None = None
        self._reason = "it gave no answer"
        self._left = MOST_BYTES
        self._last = 0

    async def __aenter__(self) -> HttpMessages:
        try:
            import httpx2
        except ModuleNotFoundError:
            raise ListingError(
                "reading a server at a URL needs `pip install toolcast-runtime[mcp]`"
            ) from None
        try:
            httpx2.URL(self._server.url)
        except httpx2.InvalidURL as error:
            raise ListingError(f"its URL is not valid: {error}") from None
        self._client = httpx2.AsyncClient(
            headers=dict(self._server.headers), timeout=None, trust_env=False
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def ask(
        self, method: str, params: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """The response to a request, with its `result` or `error`; None if none came."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        async with aclosing(self._post(message)) as answers:
            async for answer in answers:
                if answer.get("id") == self._last or "method" not in answer:
                    return answer
                if isinstance(answer["method"], str) and "id" not in answer:
                    self.changed.add(answer["method"])
        return None

    async def tell(self, method: str) -> None:
        """Sends a notification."""
        async for _ in self._post({"method": method}):
            pass

    def adopt(self, protocol: str) -> None:
        """Says which revision is spoken from now on, in a header of every request."""
        self._protocol = protocol

    def why_lost(self) -> str:
        """Why no answer came."""
        return self._reason

    async def _post(
        self, message: Mapping[str, Any]
    ) -> AsyncGenerator[dict[str, Any], None]:
        import httpx2

        headers = {
            "accept": _ACCEPTED,
            # What is packed is small on the wire and may be anything when unpacked.
            "accept-encoding": "identity",
            "content-type": "application/json",
            "mcp-method": message["method"],
        }
        if self._protocol is not None:
            headers["mcp-protocol-version"] = self._protocol
        if self._session is not None:
            headers["mcp-session-id"] = self._session
        body = json.dumps({"jsonrpc": "2.0", **message})
        try:
            async with self._client.stream(
                "POST", self._server.url, content=body, headers=headers
            ) as response:
                self._reason = _reason(response)
                self._session = response.headers.get("mcp-session-id", self._session)
                if response.headers.get("content-encoding", "identity") != "identity":
                    self._reason = "its answer is packed, which was not asked for"
                    return
                async for text in self._texts(response):
                    answer = self._read(text)
                    if answer is not None:
                        yield answer
        except httpx2.HTTPError as error:
            self._reason = f"{type(error).__name__}: {error}"
        except httpx2.InvalidURL as error:
            self._reason = f"its URL is not valid: {error}"

    def _read(self, text: bytes) -> dict[str, Any] | None:
        try:
            value, twice = read_json(text)
        except JsonProblem:
            value, twice = None, ()
        if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
            return None
        self.twice |= dict.fromkeys(twice)
        return value

    async def _texts(self, response: httpx2.Response) -> AsyncIterator[bytes]:
        """The JSON texts of an answer: its body, or the data of its events."""
        kind = response.headers.get("content-type", "")
        buffer = bytearray()
        if not kind.startswith(_PAGE_OF_EVENTS):
            async for chunk in response.aiter_raw():
                buffer += self._bounded(chunk)
            yield bytes(buffer)
            return
        data: list[bytes] = []
        async for chunk in response.aiter_raw():
            buffer += self._bounded(chunk)
            if b"\n" not in chunk and b"\r" not in chunk:
                continue
            *lines, rest = bytes(buffer).replace(b"\r\n", b"\n").split(b"\n")
            buffer = bytearray(rest)
            for line in lines:
                if line.startswith(b"data:"):
                    data.append(line[5:].removeprefix(b" "))
                elif not line and data:
                    yield b"\n".join(data)
                    data = []
        if data:
            yield b"\n".join(data)

    def _bounded(self, chunk: bytes) -> bytes:
        import httpx2

        self._left -= len(chunk)
        if self._left < 0:
            raise httpx2.ReadError(f"it sent more than {MOST_BYTES >> 20} MiB")
        return chunk


def _reason(response: httpx2.Response) -> str:
    """Why an answer with this status brings nothing, should it bring nothing."""
    status = response.status_code
    words = f"it answered with the status {status}"
    if response.is_redirect and "location" in response.headers:
        # Not followed: whoever answers there is somebody else until a person says not.
        return f"{words}: it is at {response.headers['location']}"
    if status in (401, 403):
        return f"{words}: `--header 'Authorization: Bearer ${{TOKEN}}'` gives a token"
    if status in (404, 405):
        return f"{words}: is this its endpoint? Servers with SSE alone are not read"
    return words
