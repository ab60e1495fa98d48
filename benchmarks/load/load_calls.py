"""Many HTTP sessions that call tools one after the other, and what that gave."""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

SESSIONS = int(os.environ.get("SESSIONS", "200"))
VERSION = "2026-07-28"
TOKEN = "load-internal-token"


@dataclass
class Run:
    """What a load of calls gave."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    kept: int = 0

    @property
    def rate(self) -> float:
        """Calls a second."""
        return len(self.times) / self.seconds

    @property
    def p99(self) -> float:
        """Milliseconds that one call of a hundred takes longer than."""
        return statistics.quantiles(self.times, n=100)[98] * 1000


def request(port: int, path: str, name: str, arguments: dict[str, Any]) -> bytes:
    """The bytes of one call in the modern era."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": name, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    body = json.dumps(message).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n"
        f"MCP-Protocol-Version: {VERSION}\r\nMcp-Method: tools/call\r\n"
        f"Mcp-Name: {name}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def answer(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The status line and the body of one answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    status = head.partition(b"\r\n")[0]
    length = re.search(rb"(?i)content-length: (\d+)", head)
    if length:
        return status, await reader.readexactly(int(length[1]))
    body = b""
    while True:
        size = int(await reader.readuntil(b"\r\n"), 16)
        part = await reader.readexactly(size + 2)
        if size == 0:
            return status, body
        body += part[:-2]


async def session(
    number: int, port: int, path: str, mixed: Any, end: float, run: Run
) -> None:
    """One session: calls one after the other on a connection of its own."""
    calls = [(request(port, path, n, a), p, right) for n, a, p, right in mixed]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    turn = number
    while time.monotonic() < end:
        data, persistent, right = calls[turn % len(calls)]
        turn += 1
        before = time.monotonic()
        writer.write(data)
        status, body = await answer(reader)
        run.times.append(time.monotonic() - before)
        run.kept += persistent
        compact = body.replace(b'": ', b'":')
        if b" 200 " not in status or (right not in compact and right not in body):
            run.errors[f"{status.decode()}: {body[:300].decode(errors='replace')}"] += 1
    writer.close()
    await writer.wait_closed()


async def load(port: int, path: str, mixed: Any, seconds: float) -> Run:
    """All sessions at once for so many seconds."""
    run = Run()
    start = time.monotonic()
    end = start + seconds
    await asyncio.gather(
        *(session(n, port, path, mixed, end, run) for n in range(SESSIONS))
    )
    run.seconds = time.monotonic() - start
    return run
