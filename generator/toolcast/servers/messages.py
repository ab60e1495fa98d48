"""A server's JSON-RPC messages over stdio, each exactly as it is sent."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from toolcast_runtime.external.server_process import (
    READ_BYTES,
    ServerProcess,
    kill,
    started,
    stop,
)
from toolcast_runtime.external.server_settings import Resolved

from ..reading.exact_json import JsonProblem, read_json
from .server_listing import ListingError

__all__ = ["MOST_BYTES", "StdioMessages"]

MOST_BYTES = 64 * 1024 * 1024
"""What a server may send in all while it is read."""

_MOST_MESSAGES = 10_000
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

    def __init__(self, server: Resolved) -> None:
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
            self._process: ServerProcess = await started(self._server)
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) else error
            raise ListingError(
                f"`{self._server.command}` cannot be started: {said}"
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
                if total > MOST_BYTES:
                    ending = f"it sent more than {MOST_BYTES >> 20} MiB"
                    return
                buffer += chunk
                if b"\n" not in chunk:
                    continue
                *lines, rest = bytes(buffer).split(b"\n")
                buffer = bytearray(rest)
                messages += len(lines)
                if messages > _MOST_MESSAGES:
                    ending = f"it sent more than {_MOST_MESSAGES:,} lines"
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
        except JsonProblem:
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
