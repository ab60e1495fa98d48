"""Concurrent HTTP sessions that call tools, and the results of such a load."""

from __future__ import annotations

import asyncio
import math
import os
import re
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from clients import LEGACY, MODERN, encode_http_request

SESSIONS = int(os.environ.get("SESSIONS", "200"))
TOKEN = "load-agent-token"


@dataclass(frozen=True)
class Call:
    """A tool call with its expected answer.

    Attributes:
        kind: kind of tool that the call represents.
        tool: tool name.
        arguments: arguments of the call.
        expected: bytes that a correct answer contains.
        is_result: whether the answer is a tool result, not a protocol error.
    """

    kind: str
    tool: str
    arguments: Mapping[str, Any]
    expected: bytes
    is_result: bool = True


_VISIT = {"visit_id": 7}
MIXED = [
    Call("plain", "get_visit", _VISIT, b"visit 7 is at nine"),
    Call("async", "find_visits", {"day": "2026-11-23"}, b"2026-11-23T09:00:00Z"),
    Call("slow, plain", "print_label", _VISIT, b"label 7 is printed"),
    Call("slow, async", "wait_for_room", {"room": "Oak"}, b"Oak is free"),
    Call("ledger", "add_note", {**_VISIT, "text": "Called."}, b"7 more characters"),
    Call("large answer", "export_visits", {"days": 90}, b"2499,2026-11-23"),
    Call("error", "cancel_visit", _VISIT, b"there is no visit 7"),
    Call("not allowed", "delete_visits", {"sure": True}, b"nknown tool", False),
]


@dataclass
class Run:
    """The results of a load.

    Attributes:
        seconds: time from the first call to the last answer.
        times: seconds of each call, by kind.
        errors: wrong answers with their counts.
    """

    seconds: float = 0.0
    times: defaultdict[str, list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def count(self) -> int:
        """Number of calls."""
        return sum(map(len, self.times.values()))

    @property
    def rate(self) -> float:
        """Calls per second."""
        return self.count / self.seconds

    def percentile(self, number: int, kind: str | None = None) -> float:
        """Return a percentile of the calls in milliseconds; NaN without calls."""
        lists = self.times.values() if kind is None else [self.times[kind]]
        times = [seconds for times in lists for seconds in times]
        if len(times) < 2:
            return math.nan
        return statistics.quantiles(times, n=100)[number - 1] * 1000

    def add(self, other: Run) -> None:
        """Add the calls of another run."""
        self.seconds += other.seconds
        self.errors += other.errors
        for kind, times in other.times.items():
            self.times[kind] += times


async def load(
    port: int, path: str, seconds: float, calls: Sequence[Call] = MIXED
) -> Run:
    """Run all sessions concurrently; every other one uses the handshake version."""
    run = Run()
    start = time.monotonic()
    end = start + seconds
    await asyncio.gather(
        *(_run_session(n, port, path, end, run, calls) for n in range(SESSIONS))
    )
    run.seconds = time.monotonic() - start
    return run


async def _run_session(
    number: int, port: int, path: str, end: float, run: Run, calls: Sequence[Call]
) -> None:
    """Send calls sequentially on a separate connection."""
    revision = (MODERN, LEGACY)[number % 2]
    requests = [_encode_call(port, path, call, revision) for call in calls]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    turn = number // 2
    while time.monotonic() < end:
        call, data = calls[turn % len(calls)], requests[turn % len(calls)]
        turn += 1
        before = time.monotonic()
        writer.write(data)
        try:
            status, body = await _read_answer(reader)
        except (asyncio.IncompleteReadError, OSError) as error:
            run.errors[f"{call.tool}: no answer: {error!r}"] += 1
            return
        run.times[call.kind].append(time.monotonic() - before)
        is_valid = b" 200 " in status or not call.is_result
        if not is_valid or call.expected not in body:
            answer = body[:300].decode(errors="replace")
            run.errors[f"{call.tool}: {status.decode()}: {answer}"] += 1
    writer.close()
    await writer.wait_closed()


def _encode_call(port: int, path: str, call: Call, revision: str) -> bytes:
    params = {"name": call.tool, "arguments": call.arguments}
    headers = f"Authorization: Bearer {TOKEN}\r\n"
    return encode_http_request(port, path, "tools/call", params, revision, headers)


async def _read_answer(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Read the status line and the body of an answer."""
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
