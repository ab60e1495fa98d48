"""JSON-RPC connections to a server: over the pipes of a process, or over HTTP."""

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
"""The maximum number of bytes that a server may send while its lists are read."""

_MAX_MESSAGES = 10_000
"""The maximum number of lines that a stdio server may send."""
_MAX_STDERR_BYTES = 2_000
"""The number of last bytes of stderr that are kept for error messages."""
_STDERR_INTERVAL_S = 0.01
"""Pause after each read of stderr, in seconds; slows down a server that floods it."""
_MAX_LINE_BYTES_SHOWN = 80
"""The maximum number of bytes of an invalid line in a message."""
_ERROR_NAME = re.compile(r"(?:^|[A-Za-z])(?:[Ee]rror|Exception)\b.*:")
_LETTERS = re.compile(r"[^\W\d_]{2}")


class StdioConnection:
    """A JSON-RPC connection to a server process, as an async context manager.

    The process is started on entering, and ended with its child processes on leaving.

    Attributes:
        invalid_lines: the first bytes of each line on stdout that was not a message.
        duplicate_keys: keys that an object in a response had twice.
        notifications: methods of the notifications received since the set was last
            cleared.
    """

    def __init__(self, server: ResolvedServer) -> None:
        self.invalid_lines: list[str] = []
        self.duplicate_keys: dict[str, None] = {}
        self.notifications: set[str] = set()
        self._server = server
        self._responses: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._end_reason: str | None = None
        self._stderr = bytearray()
        self._last_id = 0

    async def __aenter__(self) -> StdioConnection:
        try:
            self._process: ServerProcess = await start(self._server)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise ListingError(
                f"`{self._server.command}` cannot be started: {reason}"
            ) from None
        self._readers = [
            asyncio.ensure_future(self._read_stdout()),
            asyncio.ensure_future(self._read_stderr()),
        ]
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            # Only a server that is still running needs time to shut down.
            await stop(self._process, 1.0 if self._end_reason is None else 0.1)
        finally:
            kill(self._process)
            self._process.close()
            for reader in self._readers:
                reader.cancel()
            await asyncio.wait(self._readers)

    async def request(
        self, method: str, params: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Send a request; return its response, with a `result` or an `error`.

        None if the server ended or sent too much; `describe_failure` returns the
        reason.
        """
        self._last_id += 1
        pending = asyncio.get_running_loop().create_future()
        self._responses[self._last_id] = pending
        if self._end_reason is not None:
            return None
        await self._send({"id": self._last_id, "method": method, "params": params})
        try:
            response: Mapping[str, Any] = await pending
        except asyncio.CancelledError:
            # The reader of stdout cancels pending responses when the server ends; any
            # other cancellation is the caller's.
            if pending.cancelled() and self._end_reason is not None:
                return None
            raise
        return response

    async def notify(self, method: str) -> None:
        """Send a notification; an ended server is ignored."""
        await self._send({"method": method})

    def set_protocol(self, protocol: str) -> None:
        """Set the protocol version of further messages; no effect over stdio."""

    def describe_failure(self) -> str:
        """Return why no response was received, with a line of stderr, if there is one.

        The text is not escaped.
        """
        reason = self._end_reason or "the server did not answer"
        output = bytes(self._stderr).decode("utf-8", "replace").strip()
        if not output:
            return reason
        return f"{reason}; its stderr: {find_error_line(output.splitlines())}"

    async def _send(self, message: Mapping[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message})
        with suppress(OSError):
            self._process.stdin.write(f"{line}\n".encode())
            await self._process.stdin.drain()

    async def _read_stdout(self) -> None:
        end_reason = "the server's process ended"
        try:
            buffer = bytearray()
            byte_count = line_count = 0
            while chunk := await self._process.stdout.read(READ_BYTES):
                byte_count += len(chunk)
                if byte_count > MAX_SERVER_BYTES:
                    end_reason = (
                        f"the server sent more than {MAX_SERVER_BYTES >> 20} MiB"
                    )
                    return
                buffer += chunk
                # Splitting the buffer at each chunk of a long line would take quadratic
                # time.
                if b"\n" not in chunk:
                    continue
                *lines, rest = bytes(buffer).split(b"\n")
                buffer = bytearray(rest)
                line_count += len(lines)
                if line_count > _MAX_MESSAGES:
                    end_reason = f"the server sent more than {_MAX_MESSAGES:,} lines"
                    return
                for line in filter(bytes.strip, lines):
                    await self._receive_line(line)
        except OSError:
            end_reason = "the connection to the server closed"
        finally:
            self._end_reason = end_reason
            for response in self._responses.values():
                response.cancel()

    async def _receive_line(self, line: bytes) -> None:
        try:
            message, duplicate_keys = read_json(line)
        except JsonError:
            message, duplicate_keys = None, ()
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            excerpt = line[:_MAX_LINE_BYTES_SHOWN].decode("utf-8", "replace")
            self.invalid_lines.append(excerpt)
            return
        message_id, method = message.get("id"), message.get("method")
        if isinstance(method, str):
            if message_id is None:
                self.notifications.add(method)
            else:
                await self._send({"id": message_id, **build_client_response(method)})
            return
        pending = (
            self._responses.get(message_id) if isinstance(message_id, int) else None
        )
        if pending is not None and not pending.done():
            self.duplicate_keys |= dict.fromkeys(duplicate_keys)
            pending.set_result(message)

    async def _read_stderr(self) -> None:
        """Read stderr until it ends, and keep its last bytes.

        A pipe that is full would block the server.
        """
        with suppress(OSError):
            while chunk := await self._process.stderr.read(READ_BYTES):
                self._stderr += chunk
                del self._stderr[:-_MAX_STDERR_BYTES]
                await asyncio.sleep(_STDERR_INTERVAL_S)


def find_error_line(lines: Sequence[str]) -> str:
    """Return the line of a program's output that best explains why it ended.

    This is the last line that contains the name of an error, because some runtimes
    print a stack trace and a brace after it. Without such a line, the last one with
    letters is returned.

    Args:
        lines: the output; at least one line.
    """
    for pattern in (_ERROR_NAME, _LETTERS):
        for line in reversed(lines):
            if pattern.search(line):
                return line.strip()
    return lines[-1].strip()


def build_client_response(method: str) -> Mapping[str, Any]:
    """Return the `result` or `error` for a request that a server sends to the client.

    Only `ping` is supported.
    """
    if method == "ping":
        return {"result": {}}
    return {"error": {"code": -32601, "message": "Method not found"}}


_ACCEPTED_TYPES = "application/json, text/event-stream"
_EVENT_STREAM = "text/event-stream"


class HttpConnection:
    """A JSON-RPC connection to a server at a URL, as an async context manager.

    It has the methods and attributes of `StdioConnection`. Proxies, .netrc and
    redirects are not used.
    """

    def __init__(self, server: ResolvedServer) -> None:
        self.invalid_lines: list[str] = []
        self.duplicate_keys: dict[str, None] = {}
        self.notifications: set[str] = set()
        self._server = server
        self._session: str | None = None
        self._protocol: str | None = None
        self._failure = "the server did not answer"
        self._remaining_bytes = MAX_SERVER_BYTES
        self._last_id = 0

    async def __aenter__(self) -> HttpConnection:
        try:
            import httpx2
        except ModuleNotFoundError:
            raise ListingError(
                "httpx2 is not installed, which reads a server at a URL;"
                " run `pip install toolcast-runtime[mcp]`"
            ) from None
        try:
            httpx2.URL(self._server.url)
        except httpx2.InvalidURL as error:
            raise ListingError(f"the URL is not valid: {error}") from None
        # Without a timeout here: `read_server` limits the time of each list.
        # A transport of its own still reads `SSL_CERT_FILE`, as the runtime does; without
        # `trust_env`, the client ignores proxies and .netrc.
        self._client = httpx2.AsyncClient(
            headers=dict(self._server.headers),
            timeout=None,
            transport=httpx2.AsyncHTTPTransport(),
            trust_env=False,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def request(
        self, method: str, params: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Send a request; return its response, with a `result` or an `error`.

        None without a response; `describe_failure` returns the reason.
        """
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": params}
        async with aclosing(self._post(message)) as answers:
            async for answer in answers:
                # Any response is accepted: its id is null if the server could not read
                # the request's id (JSON-RPC 2.0, section 5). The id of a request by the
                # server may be equal.
                if "method" not in answer:
                    return answer
                if "id" not in answer:
                    self.notifications.add(str(answer["method"]))
        return None

    async def notify(self, method: str) -> None:
        """Send a notification."""
        async for _ in self._post({"method": method}):
            pass

    def set_protocol(self, protocol: str) -> None:
        """Set the protocol version that the headers of further requests contain."""
        self._protocol = protocol

    def describe_failure(self) -> str:
        """Return why no response was received."""
        return self._failure

    async def _post(
        self, message: Mapping[str, Any]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Send a message; yield the JSON-RPC messages of the HTTP response.

        A failed request yields nothing, and sets the reason for `describe_failure`.
        """
        import httpx2

        headers = {
            "accept": _ACCEPTED_TYPES,
            # A compressed response could expand far beyond the limit of bytes.
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
                self._failure = _describe_status(response)
                self._session = response.headers.get("mcp-session-id", self._session)
                encoding = response.headers.get("content-encoding", "identity")
                if encoding != "identity":
                    self._failure = (
                        f"the response is compressed ({encoding}), although the request"
                        " accepts only `identity`"
                    )
                    return
                async for text in self._read_texts(response):
                    answer = self._parse_message(text)
                    if answer is not None:
                        yield answer
        except httpx2.HTTPError as error:
            self._failure = f"{type(error).__name__}: {error}"
        except httpx2.InvalidURL as error:
            self._failure = f"the URL is not valid: {error}"

    def _parse_message(self, text: bytes) -> dict[str, Any] | None:
        try:
            value, duplicate_keys = read_json(text)
        except JsonError:
            value, duplicate_keys = None, ()
        if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
            return None
        self.duplicate_keys |= dict.fromkeys(duplicate_keys)
        return value

    async def _read_texts(self, response: httpx2.Response) -> AsyncIterator[bytes]:
        """Yield the JSON texts of a response: its body, or the data of SSE events."""
        content_type = response.headers.get("content-type", "")
        buffer = bytearray()
        if not content_type.startswith(_EVENT_STREAM):
            async for chunk in response.aiter_raw():
                buffer += self._count_bytes(chunk)
            yield bytes(buffer)
            return
        data: list[bytes] = []
        async for chunk in response.aiter_raw():
            buffer += self._count_bytes(chunk)
            # Splitting the buffer at each chunk of a long line would take quadratic
            # time.
            if b"\n" not in chunk:
                continue
            *lines, rest = bytes(buffer).replace(b"\r\n", b"\n").split(b"\n")
            buffer = bytearray(rest)
            for line in lines:
                if line.startswith(b"data:"):
                    # One space after `data:` is not part of the data (HTML Standard,
                    # server-sent events).
                    data.append(line[5:].removeprefix(b" "))
                elif not line and data:
                    yield b"\n".join(data)
                    data = []
        if data:
            yield b"\n".join(data)

    def _count_bytes(self, chunk: bytes) -> bytes:
        """Return a chunk of a response unchanged after counting its bytes.

        Raises:
            httpx2.ReadError: the server has sent too many bytes in total.
        """
        import httpx2

        self._remaining_bytes -= len(chunk)
        if self._remaining_bytes < 0:
            raise httpx2.ReadError(
                f"the server sent more than {MAX_SERVER_BYTES >> 20} MiB"
            )
        return chunk


def _describe_status(response: httpx2.Response) -> str:
    """Return why an HTTP response was not the expected JSON-RPC response.

    The text has the status, and a hint for redirects, missing tokens and wrong URLs.
    """
    status = response.status_code
    text = f"the server returned HTTP status {status}"
    if response.is_redirect and "location" in response.headers:
        # Redirects are not followed: the new address may belong to another server.
        location = response.headers["location"]
        return f"{text}, a redirect; if you trust its address, use it: {location}"
    if status in (401, 403):
        return f"{text}; pass a token: `--header 'Authorization: Bearer ${{TOKEN}}'`"
    if status in (404, 405):
        return (
            f"{text}; check that the URL is a Streamable HTTP endpoint (servers that only"
            " have SSE are not supported)"
        )
    return text
