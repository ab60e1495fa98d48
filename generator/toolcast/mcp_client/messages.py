"""Messages of JSON-RPC to a server and back: over the pipes of a process, and over HTTP."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

from toolcast_runtime.core.server_settings import ResolvedServer
from toolcast_runtime.external.server_process import (
    READ_BYTES,
    ServerProcess,
    kill,
    start,
    stop,
)

from ..parsing.exact_json import JsonError, read_json
from .server_listing import ListingError

if TYPE_CHECKING:
    import httpx2

MAX_SERVER_BYTES = 64 * 1024 * 1024
"""Bytes that a server may send in total while its lists are read."""

_MAX_MESSAGES = 10_000
"""Lines that a stdio server may send in total."""
_KEPT_STDERR = 2_000
_STDERR_PAUSE = 0.01
_SHORTEST_SHOWN = 80
_ERROR = re.compile(r"(?:^|[A-Za-z])(?:[Ee]rror|Exception)\b.*:")
_WORD = re.compile(r"[^\W\d_]{2}")


class StdioMessages:
    """The messages of a server's process. Use it in an `async with`.

    Attributes:
        noise: lines on stdout that were no messages.
        twice: keys that an object of an answer had twice.
        changed: methods of the notifications that came since it was last emptied.
    """

    def __init__(self, server: ResolvedServer) -> None:
        self.noise: list[str] = []
        self.twice: dict[str, None] = {}
        self.changed: set[str] = set()
        self._server = server
        self._answers: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._ending: str | None = None
        self._stderr = bytearray()
        self._last = 0

    async def __aenter__(self) -> StdioMessages:
        try:
            self._process: ServerProcess = await start(self._server)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise ListingError(
                f"`{self._server.command}` cannot be started: {reason}"
            ) from None
        self._readers = [
            asyncio.ensure_future(self._read()),
            asyncio.ensure_future(self._read_stderr()),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await stop(self._process, 1.0 if self._ending is None else 0.1)
        finally:
            kill(self._process)
            self._process.close()
            for reader in self._readers:
                reader.cancel()
            await asyncio.wait(self._readers)

    async def ask(
        self, method: str, params: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """The response to a request, with its `result` or `error`; None if none came.

        None is given when the server ended or sent too much: `why_lost` says why.
        """
        self._last += 1
        answer = asyncio.get_running_loop().create_future()
        self._answers[self._last] = answer
        if self._ending is not None:
            return None
        await self._send({"id": self._last, "method": method, "params": params})
        try:
            found: Mapping[str, Any] = await answer
        except asyncio.CancelledError:
            if answer.cancelled() and self._ending is not None:
                return None
            raise
        return found

    async def tell(self, method: str) -> None:
        """Sends a notification."""
        await self._send({"method": method})

    def adopt(self, protocol: str) -> None:
        """Says which revision is spoken from now on, which lines do not show."""

    def why_lost(self) -> str:
        """Why no answer will come, with the server's last words, as they are."""
        words = bytes(self._stderr).decode("utf-8", "replace").strip()
        last = f"; its last words: {telling(words.splitlines())}" if words else ""
        return f"{self._ending or 'it gave no answer'}{last}"

    async def _send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message})
        with suppress(OSError):
            self._process.stdin.write(f"{line}\n".encode())
            await self._process.stdin.drain()

    async def _read(self) -> None:
        ending = "it ended"
        try:
            buffer = bytearray()
            total = messages = 0
            while chunk := await self._process.stdout.read(READ_BYTES):
                total += len(chunk)
                if total > MAX_SERVER_BYTES:
                    ending = f"it sent more than {MAX_SERVER_BYTES >> 20} MiB"
                    return
                buffer += chunk
                if b"\n" not in chunk:
                    continue
                *lines, rest = bytes(buffer).split(b"\n")
                buffer = bytearray(rest)
                messages += len(lines)
                if messages > _MAX_MESSAGES:
                    ending = f"it sent more than {_MAX_MESSAGES:,} lines"
                    return
                for line in filter(bytes.strip, lines):
                    await self._take(line)
        except OSError:
            ending = "its connection closed"
        finally:
            self._ending = ending
            for answer in self._answers.values():
                answer.cancel()

    async def _take(self, line: bytes) -> None:
        try:
            message, twice = read_json(line)
        except JsonError:
            message, twice = None, ()
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self.noise.append(line[:_SHORTEST_SHOWN].decode("utf-8", "replace"))
            return
        number, method = message.get("id"), message.get("method")
        if isinstance(method, str):
            if number is None:
                self.changed.add(method)
            else:
                await self._send({"id": number, **answer_to_server(method)})
            return
        answer = self._answers.get(number) if isinstance(number, int) else None
        if answer is not None and not answer.done():
            self.twice |= dict.fromkeys(twice)
            answer.set_result(message)

    async def _read_stderr(self) -> None:
        """Keeps the pipe from filling up, and the last words; a flood has to wait."""
        with suppress(OSError):
            while chunk := await self._process.stderr.read(READ_BYTES):
                self._stderr += chunk
                del self._stderr[:-_KEPT_STDERR]
                await asyncio.sleep(_STDERR_PAUSE)


def telling(lines: Sequence[str]) -> str:
    """The line that says most of why a program ended.

    The last that names an error: behind it, runtimes print where it happened, and a brace.
    Without one, the last in which there are words.
    """
    for pattern in (_ERROR, _WORD):
        found = next((line for line in reversed(lines) if pattern.search(line)), None)
        if found is not None:
            return found.strip()
    return lines[-1].strip()


def answer_to_server(method: str) -> Mapping[str, Any]:
    """What a server that asks is answered: nothing but that somebody is there."""
    if method == "ping":
        return {"result": {}}
    return {"error": {"code": -32601, "message": "Method not found"}}


_ACCEPTED = "application/json, text/event-stream"
_PAGE_OF_EVENTS = "text/event-stream"


class HttpMessages:
    """The messages of a server at a URL. Use it in an `async with`.

    Proxies, .netrc and redirects are not followed. It has what `StdioMessages` has.
    """

    def __init__(self, server: ResolvedServer) -> None:
        self.noise: list[str] = []
        self.twice: dict[str, None] = {}
        self.changed: set[str] = set()
        self._server = server
        self._session: str | None = None
        self._protocol: str | None = None
        self._reason = "it gave no answer"
        self._left = MAX_SERVER_BYTES
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
        except JsonError:
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
            raise httpx2.ReadError(f"it sent more than {MAX_SERVER_BYTES >> 20} MiB")
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
