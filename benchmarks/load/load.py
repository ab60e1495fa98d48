"""200 HTTP sessions calling mixed tools against two workers: `make load`.

First the generated server of kirishima, with its ledger, for a minute: every answer must be
right, every call of a persistent tool must be one finished row, and memory must not grow. Then
one tool beside the bare SDK server with the same tool, in turns of a few seconds, so that a
machine whose speed drifts does not matter.

SECONDS and SESSIONS in the environment change how long and how many.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from load_calls import SESSIONS, TOKEN, Run, load, session
from load_servers import WORKERS, Running, started

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("SECONDS", "60"))
TURNS, TURN_SECONDS = 3, min(10.0, SECONDS / 3)
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
        words = ["--http", "--port", "0", "--workers", str(WORKERS), "--local-tools"]
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
