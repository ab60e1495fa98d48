"""Generated servers beside their peers, in ratios of paired rounds: `make bench`.

Each round measures every candidate once, and a ratio is taken within a round, so that a
machine whose speed drifts does not matter. With PEERS=1, fastmcp is one of them, in an
environment of its own below `.toolcast/`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from rpc import Http, Stdio, free_port

from specs import write_workspace

PYTHON = sys.executable
HERE = Path(__file__).parent
PEERS = HERE / "peer_servers"
FASTMCP = "fastmcp>=4,<5"
OURS, PLAIN, HIGH, FAST = "generated", "plain low-level", "MCPServer", "fastmcp"
CALL = {
    "name": "thing_00007",
    "arguments": {
        "name": "seven",
        "count": 7,
        "mode": "slow",
        "tags": ["a", "b"],
        "dry_run": True,
    },
}


@dataclass
class Candidate:
    """One server.

    Attributes:
        name: what it is.
        stdio: its command.
        http: its command for a port.
        folder: where it runs.
        figures: every sample, by what was measured.
    """

    name: str
    stdio: list[str]
    http: Callable[[int], list[str]]
    folder: Path
    figures: dict[str, list[float]] = field(default_factory=dict)

    def add(self, what: str, figure: float) -> None:
        """Keeps a sample."""
        self.figures.setdefault(what, []).append(figure)


def candidates(folder: Path, tools: int) -> list[Candidate]:
    """The servers, over the same tools."""
    root = write_workspace(folder / f"servers-{tools}", tools, is_async=True)
    subprocess.run(
        [PYTHON, "-m", "toolcast", "generate"],
        cwd=root,
        check=True,
        capture_output=True,
    )
    listed = root / "tools.json"
    prepared = (root / "generated/things/definitions.jsonl").read_text("utf-8")
    lines = [json.loads(line)["definition"] for line in prepared.splitlines()]
    listed.write_text(json.dumps(lines), "utf-8")
    ours = [PYTHON, "-m", "generated.things.mcp_server"]
    plain = [PYTHON, str(PEERS / "plain.py"), str(listed)]
    high = [str(PEERS / "high_level.py"), "sdk", str(tools)]
    found = [
        Candidate(
            OURS, ours, lambda port: [*ours, "--http", "--port", str(port)], root
        ),
        Candidate(PLAIN, plain, lambda port: [*plain, "--http", str(port)], root),
        Candidate(
            HIGH,
            [PYTHON, *high],
            lambda port: [PYTHON, *high, "--http", str(port)],
            root,
        ),
    ]
    if os.environ.get("PEERS"):
        fast = [fastmcp_python(), high[0], "fastmcp", str(tools)]
        found.append(
            Candidate(FAST, fast, lambda port: [*fast, "--http", str(port)], root)
        )
    return found


def fastmcp_python() -> str:
    """The interpreter of fastmcp's own environment, which is made once."""
    environment = HERE.parent / ".toolcast" / "peers" / "fastmcp"
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([PYTHON, "-m", "venv", str(environment)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", FASTMCP]
        subprocess.run(install, check=True)
    return str(python)


def stdio_rounds(servers: Iterable[Candidate], rounds: int, calls: int) -> None:
    """Starts, lists and calls over stdio."""
    for turn in range(rounds + 1):
        for server in servers:
            client = Stdio(server.stdio, server.folder)
            try:
                # The handler, its schema and the caches are loaded by the first call.
                client.calls(CALL, 20)
                lists = [client.list() for _ in range(3)]
                before = client.used()
                seconds = client.calls(CALL, calls)
                used = client.used() - before
                rate = calls / client.pipelined(CALL, calls, 16)
                if turn:  # the first round warms the caches
                    server.add("spawn to list, s", client.started)
                    server.add("spawn to list, cpu s", client.processor)
                    server.add("memory, MiB", client.memory())
                    server.add("list again, ms", 1e3 * statistics.median(lists))
                    server.add("stdio call p50, us", 1e6 * statistics.median(seconds))
                    server.add("stdio call p99, us", 1e6 * p99(seconds))
                    server.add("stdio calls/s", calls / sum(seconds))
                    server.add("stdio cpu, us a call", 1e6 * used / calls)
                    server.add("stdio pipelined calls/s", rate)
            finally:
                client.close()


def http_rounds(servers: Iterable[Candidate], rounds: int, calls: int) -> None:
    """Calls over HTTP, without a session."""
    for turn in range(rounds + 1):
        for server in servers:
            port = free_port()
            client = Http(server.http(port), server.folder, port)
            try:
                client.calls(CALL, 20)
                seconds = client.calls(CALL, calls)
                if turn:
                    server.add("http call p50, us", 1e6 * statistics.median(seconds))
                    server.add("http call p99, us", 1e6 * p99(seconds))
                    server.add("http calls/s", calls / sum(seconds))
            finally:
                client.close()


def p99(seconds: list[float]) -> float:
    """The time that one call of a hundred takes longer than."""
    return sorted(seconds)[int(len(seconds) * 0.99)]


def table(servers: list[Candidate]) -> None:
    """Prints medians, and the ratio of ours to each other."""
    ours, others = servers[0], servers[1:]
    shown = "".join(f"{server.name:>17}" for server in servers)
    ratios = "".join(f"{'/ ' + server.name:>18}" for server in others)
    print(f"{'':26}{shown}   ratios:{ratios}")
    for what, figures in ours.figures.items():
        row = "".join(
            f"{statistics.median(server.figures.get(what, [0])):17.3f}"
            for server in servers
        )
        within = "".join(
            f"{ratio(figures, server.figures[what]):18.2f}" for server in others
        )
        print(f"{what:26}{row}          {within}", flush=True)


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median of the ratios within the rounds."""
    pairs = zip(ours, theirs, strict=True)
    return statistics.median(one / other if other else 0.0 for one, other in pairs)


def main() -> None:
    """Prints the tables; TOOLS, ROUNDS and CALLS of the environment change the sizes."""
    tools = int(os.environ.get("TOOLS", "1000"))
    rounds = int(os.environ.get("ROUNDS", "5"))
    calls = int(os.environ.get("CALLS", "1000"))
    with tempfile.TemporaryDirectory(prefix="toolcast-servers-") as folder:
        servers = candidates(Path(folder), tools)
        print(f"\n{tools} tools, medians of {rounds} rounds of {calls} calls")
        stdio_rounds(servers, rounds, calls)
        if "--no-http" not in sys.argv:
            http_rounds(servers, rounds, calls)
        table(servers)


if __name__ == "__main__":
    main()
