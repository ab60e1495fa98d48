"""Generated servers beside what one would write instead, over stdio and over HTTP.

All have the same real tools. The generated server checks arguments and who may call; with a
ledger it also commits two rows a call to SQLite. The plain server is the official SDK's
low-level API, which checks nothing, and once more with jsonschema put in by hand; MCPServer (the SDK) and FastMCP make their schemas from
functions, and check arguments by them. FastMCP is measured with PEERS=1, in an environment of
its own below `.toolcast/`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from clients import LEGACY, MODERN, Http, Stdio, free_port
from generation import Sizes, prepared
from generators import installed_python
from loop_rounds import rounds_table
from paired import PYTHON, Row, Sample, compare
from results import Part
from turns import Candidate, Figures, call_in_turn, table
from workspaces import real

__all__ = [
    "CALL",
    "CHECKED",
    "CLIENTS",
    "OURS",
    "PLAIN",
    "beside",
    "calls_of",
    "candidates",
    "servers_part",
    "transports",
]

_PEERS = Path(__file__).parent / "peer_servers"
_FASTMCP = "fastmcp==4.1.2"
OURS, _LEDGER = "generated", "generated, with a ledger"
PLAIN, CHECKED = "plain low-level SDK", "plain and jsonschema"
_HIGH, _FAST = "SDK's MCPServer", "FastMCP"
CLIENTS = """\
clients: {assistant: {allow: "*"}, guest: {allow: [get_pod_logs]}}
targets: {registry: {}, mcp: {client: assistant}}
"""
_LEDGER_LINE = "ledger: {path: ledger.sqlite3}\n"
CALL: dict[str, Any] = {
    "name": "get_pod_logs",
    "arguments": {
        "cluster_name": "east",
        "namespace": "default",
        "pod_name": "web-7f9c",
        "container_name": "app",
        "tail_lines": 100,
    },
}


def servers_part(folder: Path, sizes: Sizes) -> Part:
    """Measure start and calls of all servers with few and many tools, on both transports."""
    calls = 1_000 if sizes.rounds > 1 else 100
    rows: list[Row] = []
    tables = []
    for number in (sizes.small, sizes.real):
        servers = list(candidates(folder / f"servers-{number}", number))
        work = f"{number:,} real tools"
        for transport, start in transports():
            figures = call_in_turn(servers, start, CALL, sizes.few, calls)
            if transport == "stdio":
                rows += beside(f"start to tools/list, {work}", _starts(figures))
            rows += beside(f"calls over {transport}, {work}", calls_of(figures))
            tables.append(table(f"{work}, {transport}", figures, calls))
        if number == sizes.small:
            counted = [server for server in servers if server.name in (OURS, PLAIN)]
            ways = dict(transports())
            tables.append(rounds_table(counted, ways, CALL, calls, folder))
    versions = dict([_FASTMCP.split("==")]) if os.environ.get("PEERS") else {}
    return Part(rows, tables=tables, versions=versions)


def transports() -> Iterator[tuple[str, Callable[[Candidate], Stdio | Http]]]:
    """Yield each transport with the function that starts a server for it."""
    yield "stdio", lambda server: Stdio(server.stdio, server.folder)
    for revision in (MODERN, LEGACY):

        def over_http(server: Candidate, revision: str = revision) -> Http:
            port = free_port()
            return Http([*server.http, str(port)], server.folder, port, revision)

        yield f"HTTP {revision}", over_http


def candidates(folder: Path, number: int) -> Iterator[Candidate]:
    """Yield the servers with the same tools."""
    for name, more in ((OURS, ""), (_LEDGER, _LEDGER_LINE)):
        below = folder / name.rpartition(" ")[2]
        below.mkdir(parents=True)
        workspace = real(below, number, toolset=CLIENTS + more)
        root = workspace.root
        if more:
            spec = root / "specs" / "things" / f"{CALL['name']}.yaml"
            spec.write_text(spec.read_text("utf-8") + "persistent: true\n", "utf-8")
        prepared(workspace)
        words = [PYTHON, "-m", "generated.things.mcp_server"]
        yield Candidate(name, words, [*words, "--http", "--port"], root)
    files = sorted(root.glob("generated/things/tools/*.json"))
    tools = [json.loads(file.read_text("utf-8"))["mcp"] for file in files]
    listed = folder / "tools.json"
    listed.write_text(json.dumps(tools), "utf-8")
    plain = [PYTHON, str(_PEERS / "plain.py"), str(listed)]
    for name, words in ((PLAIN, plain), (CHECKED, [*plain, "--checked"])):
        yield Candidate(name, words, [*words, "--http"], folder)
    script = str(_PEERS / "high_level.py")
    high = [PYTHON, script, "sdk", str(listed)]
    yield Candidate(_HIGH, high, [*high, "--http"], folder)
    if os.environ.get("PEERS"):
        python = installed_python(_FASTMCP) / "bin" / "python"
        fast = [str(python), script, "fastmcp", str(listed)]
        yield Candidate(_FAST, fast, [*fast, "--http"], folder)


def _starts(figures: Figures) -> dict[str, list[Sample]]:
    return {name: [one.start for one in found] for name, found in figures.items()}


def calls_of(figures: Figures) -> dict[str, list[Sample]]:
    """Return the calls of each round by server."""
    return {name: [one.calls for one in found] for name, found in figures.items()}


def beside(
    work: str, samples: dict[str, list[Sample]], ours: str = OURS
) -> Iterator[Row]:
    """Compare a Toolcast server with every other server."""
    for name in samples:
        if name != ours:
            yield compare(work, samples, name, ours)
