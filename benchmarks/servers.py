"""Comparison of generated servers with handwritten servers, over stdio and HTTP.

All servers have the same real tools. The generated server validates arguments and checks the
client's access; with a ledger it also commits two rows per call to SQLite. The plain server uses
the official SDK's low-level API without validation, and in a second variant with jsonschema. The
SDK's MCPServer and FastMCP derive schemas from functions and validate arguments against them.
FastMCP is measured only with PEERS=1, in its own environment in `.toolcast/`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from clients import LEGACY, MODERN, Http, Stdio, free_port
from generation import Sizes, generate_and_commit
from generators import install_python
from loop_rounds import measure_rounds
from paired import PYTHON, Row, Sample, compare
from results import Part
from turns import Candidate, Figures, build_table, call_in_turn
from workspaces import make_real_project

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
    """Compare start-up and calls of all servers, with few and with many tools."""
    calls = 1_000 if sizes.rounds > 1 else 100
    rows: list[Row] = []
    tables = []
    for number in (sizes.small, sizes.real):
        servers = list(make_candidates(folder / f"servers-{number}", number))
        work = f"{number:,} real tools"
        for transport, start in list_transports():
            figures = call_in_turn(servers, start, CALL, sizes.few_rounds, calls)
            if transport == "stdio":
                rows += compare_servers(
                    f"start to tools/list, {work}", _get_starts(figures)
                )
            rows += compare_servers(
                f"calls over {transport}, {work}", get_calls(figures)
            )
            tables.append(build_table(f"{work}, {transport}", figures, calls))
        if number == sizes.small:
            counted = [server for server in servers if server.name in (OURS, PLAIN)]
            starters = dict(list_transports())
            tables.append(measure_rounds(counted, starters, CALL, calls, folder))
    versions = dict([_FASTMCP.split("==")]) if os.environ.get("PEERS") else {}
    return Part(rows, tables=tables, versions=versions)


def list_transports() -> Iterator[tuple[str, Callable[[Candidate], Stdio | Http]]]:
    """Yield the name of each transport, and a function that starts a server on it."""
    yield "stdio", lambda server: Stdio(server.stdio, server.folder)
    for revision in (MODERN, LEGACY):

        def over_http(server: Candidate, revision: str = revision) -> Http:
            port = free_port()
            return Http([*server.http, str(port)], server.folder, port, revision)

        yield f"HTTP {revision}", over_http


def make_candidates(folder: Path, number: int) -> Iterator[Candidate]:
    """Yield the compared servers, which have the same tools."""
    for name, ledger in ((OURS, ""), (_LEDGER, _LEDGER_LINE)):
        server_folder = folder / name.rpartition(" ")[2]
        server_folder.mkdir(parents=True)
        workspace = make_real_project(server_folder, number, toolset=CLIENTS + ledger)
        root = workspace.root
        if ledger:
            spec = root / "specs" / "things" / f"{CALL['name']}.yaml"
            spec.write_text(spec.read_text("utf-8") + "persistent: true\n", "utf-8")
        generate_and_commit(workspace)
        argv = [PYTHON, "-m", "generated.things.mcp_server"]
        yield Candidate(name, argv, [*argv, "--http", "--port"], root)
    files = sorted(root.glob("generated/things/tools/*.json"))
    tools = [json.loads(file.read_text("utf-8"))["mcp"] for file in files]
    tools_file = folder / "tools.json"
    tools_file.write_text(json.dumps(tools), "utf-8")
    plain = [PYTHON, str(_PEERS / "plain.py"), str(tools_file)]
    for name, argv in ((PLAIN, plain), (CHECKED, [*plain, "--checked"])):
        yield Candidate(name, argv, [*argv, "--http"], folder)
    script = str(_PEERS / "high_level.py")
    high = [PYTHON, script, "sdk", str(tools_file)]
    yield Candidate(_HIGH, high, [*high, "--http"], folder)
    if os.environ.get("PEERS"):
        python = install_python(_FASTMCP) / "bin" / "python"
        fast = [str(python), script, "fastmcp", str(tools_file)]
        yield Candidate(_FAST, fast, [*fast, "--http"], folder)


def _get_starts(figures: Figures) -> dict[str, list[Sample]]:
    return {name: [entry.start for entry in rounds] for name, rounds in figures.items()}


def get_calls(figures: Figures) -> dict[str, list[Sample]]:
    """Return the calls of each round, by server."""
    return {name: [entry.calls for entry in rounds] for name, rounds in figures.items()}


def compare_servers(
    work: str, samples: dict[str, list[Sample]], baseline: str = OURS
) -> Iterator[Row]:
    """Compare each server with the baseline, which is the generated server by default."""
    for name in samples:
        if name != baseline:
            yield compare(work, samples, name, baseline)
