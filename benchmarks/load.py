"""200 HTTP sessions calling mixed tools against two workers: `make load`.

First the generated server of kirishima, with its ledger, for a minute: every answer must be
right, every call of a persistent tool must be one finished row, and memory must not grow. Then
one tool beside the bare SDK server with the same tool, in turns of a few seconds, so that a
machine whose speed drifts does not matter.

SECONDS and SESSIONS in the environment change how long and how many.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SECONDS = float(os.environ.get("SECONDS", "60"))
SESSIONS = int(os.environ.get("SESSIONS", "200"))
TURNS, TURN_SECONDS = 3, min(10.0, SECONDS / 3)
WORKERS = 2
VERSION = "2026-07-28"
TOKEN = "load-internal-token"
# The tool, its arguments, whether it is persistent, and a text that its answer must have.
MIXED: list[tuple[str, dict[str, Any], bool, bytes]] = [
    ("get_personality", {}, False, b"structuredContent"),
    ("memory", {"action": "search", "keywords": ["tea"]}, True, b"green tea"),
    ("memory", {"action": "list", "limit": 3}, True, b"green tea"),
    ("stickynotes", {"action": "list"}, True, b'isError":false'),
    ("manage_prompt", {"action": "list"}, True, b'isError":false'),
]
SAME = MIXED[0]
BARE = """
import asyncio, json, sys
import mcp_types as types
import uvicorn
from mcp.server import Server
sys.path.insert(0, {root!r})
from examples.kirishima.get_personality import get_personality

TOOL = types.Tool(name="get_personality", input_schema={{"type": "object"}})


async def list_tools(context, params):
    return types.ListToolsResult(tools=[TOOL])


async def call_tool(context, params):
    value = await asyncio.to_thread(get_personality)
    block = types.TextContent(type="text", text=json.dumps(value))
    return types.CallToolResult(content=[block], structured_content=value)


def app():
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool,
                    get_tool_input_schema=lambda name: TOOL.input_schema)
    return server.streamable_http_app(stateless_http=True)


if __name__ == "__main__":
    uvicorn.run("bare:app", factory=True, workers={workers}, port=0, access_log=False)
"""


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


@dataclass
class Running:
    """A server's processes."""

    process: subprocess.Popen[bytes]
    port: int
    log: list[bytes]

    def memory(self) -> float:
        """Resident mebibytes of the workers together."""
        workers = [line for line in self._children() if line]
        return sum(map(_resident, workers)) / 1024

    def _children(self) -> list[str]:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return path.read_text().split()

    def end(self) -> None:
        """Ends it and waits for it."""
        self.process.terminate()
        self.process.wait()


def _resident(pid: str) -> int:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) if found else 0


def started(command: list[str], folder: Path, env: dict[str, str]) -> Running:
    """Starts a server and waits for its workers."""
    process = subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, env={**os.environ, **env}
    )
    assert process.stderr is not None
    log: list[bytes] = []
    port = 0
    ready = 0
    for line in process.stderr:
        log.append(line)
        found = re.search(rb"running on http://[^ ]*:(\d+)", line)
        port = int(found[1]) if found else port
        ready += b"startup complete" in line
        if ready == WORKERS:
            break
    assert ready == WORKERS, b"".join(log).decode()

    def keep() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            if b" INFO " not in line and b"INFO:" not in line:
                log.append(line)

    threading.Thread(target=keep, daemon=True).start()
    return Running(process, port, log)


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


def main() -> int:
    """Prints the figures; 1 when something was lost, wrong or grew."""
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ledger = folder / "ledger.sqlite3"
        env = {
            "KIRISHIMA_LEDGER": str(ledger),
            "KIRISHIMA_DATA": str(folder / "data"),
            "KIRISHIMA_TOKEN_INTERNAL": TOKEN,
        }
        module = "generated.kirishima.mcp_server"
        words = ["--http", "--port", "0", "--workers", str(WORKERS), "--own-tools"]
        ours = started([sys.executable, "-m", module, *words], ROOT, env)
        (folder / "bare.py").write_text(BARE.format(root=str(ROOT), workers=WORKERS))
        bare = started([sys.executable, "bare.py"], folder, {"PYTHONPATH": str(ROOT)})
        try:
            problems = _measured(ours, bare, ledger)
        finally:
            ours.end()
            bare.end()
        problems += _lost(ledger)
    for problem in problems:
        print(f"PROBLEM: {problem}")
    return 1 if problems else 0


_KEPT = 0


def _measured(ours: Running, bare: Running, ledger: Path) -> list[str]:
    global _KEPT
    problems: list[str] = []
    text = "The user likes green tea"
    made = {"action": "create", "memory": text, "keywords": ["tea"]}
    first = asyncio.run(_once(ours.port, "/mcp/", ("memory", made, True, b"green tea")))
    warm = asyncio.run(load(ours.port, "/mcp/", MIXED, min(5.0, SECONDS / 4)))
    memory = [ours.memory()]
    run = asyncio.run(load(ours.port, "/mcp/", MIXED, SECONDS / 2))
    memory.append(ours.memory())
    more = asyncio.run(load(ours.port, "/mcp/", MIXED, SECONDS / 2))
    memory.append(ours.memory())
    _KEPT = first.kept + warm.kept + run.kept + more.kept
    for one in (first, warm, run, more):
        problems += [f"{count} x {error}" for error, count in one.errors.items()]
    whole = Run(run.seconds + more.seconds, run.times + more.times)
    print(f"{SESSIONS} sessions, {WORKERS} workers, mixed tools, {whole.seconds:.0f} s")
    print(f"  {len(whole.times)} calls, {whole.rate:.0f}/s, p99 {whole.p99:.0f} ms")
    shown = " -> ".join(f"{size:.0f}" for size in memory)
    print(f"  memory of the workers: {shown} MiB")
    # A leak grows in the second half as it did in the first; caches have filled by then.
    if memory[2] - memory[1] > max(8.0, (memory[1] - memory[0])):
        problems.append(f"memory grows: {shown} MiB")
    _compared(ours, bare, problems)
    problems += [line.decode() for line in ours.log if b"ERROR" in line]
    return problems


async def _once(port: int, path: str, call: Any) -> Run:
    run = Run()
    calls = session(0, port, path, [call], time.monotonic() + 0.01, run)
    await calls
    return run


def _compared(ours: Running, bare: Running, problems: list[str]) -> None:
    figures: dict[str, list[Run]] = {"generated": [], "bare SDK": []}
    for _ in range(TURNS):
        for name, server, path in (
            ("generated", ours, "/mcp/"),
            ("bare SDK", bare, "/mcp"),
        ):
            run = asyncio.run(load(server.port, path, [SAME], TURN_SECONDS))
            problems += [f"{name}: {c} x {e}" for e, c in run.errors.items()]
            figures[name].append(run)
    print(f"{SAME[0]} alone, {TURNS} turns of {TURN_SECONDS:.0f} s each")
    for name, runs in figures.items():
        rate = statistics.median(run.rate for run in runs)
        p99 = statistics.median(run.p99 for run in runs)
        print(f"  {name:<10} {rate:6.0f}/s   p99 {p99:5.0f} ms")
    ratios = [a.rate / b.rate for a, b in zip(*figures.values(), strict=True)]
    print(f"  generated / bare SDK, median of turns: {statistics.median(ratios):.2f}")


def _lost(ledger: Path) -> list[str]:
    with closing(sqlite3.connect(ledger)) as connection:
        rows = dict(
            connection.execute("SELECT outcome, count(*) FROM calls GROUP BY outcome")
        )
    print(f"  ledger: {_KEPT} calls of persistent tools, rows {rows}")
    return [] if rows == {"ok": _KEPT} else ["the ledger does not have them all as ok"]


if __name__ == "__main__":
    sys.exit(main())
