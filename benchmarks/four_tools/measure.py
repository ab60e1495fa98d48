"""Compare four tools in Toolcast and FastMCP: handwritten lines, start-up and calls.

Run as `.venv/bin/python benchmarks/four_tools/measure.py`; FastMCP has its own
environment in `.toolcast/`. Both servers start and run in turn, so each ratio compares two
runs of the same round. ROUNDS=5 sets the number of rounds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from clients import MODERN, Http, Stdio, free_port
from generators import install_python
from paired import PYTHON, compare
from turns import Candidate, call_in_turn

FASTMCP = "fastmcp==4.1.2"
OURS, THEIRS = "Toolcast", "FastMCP"
SEARCH: dict[str, Any] = {
    "name": "search_visits",
    "arguments": {"day": "2026-11-23", "limit": 5},
}


def count_lines(files: Iterable[Path]) -> int:
    """Count the lines of files, without blank lines."""
    return sum(bool(line.strip()) for file in files for line in file.open())


def make_candidates(folder: Path) -> list[Candidate]:
    """Generate the Toolcast server, and return both servers."""
    for name in ("specs", "visits"):
        shutil.copytree(HERE / "toolcast" / name, folder / name)
    for file in (HERE / "work.py", HERE / "toolcast/toolcast.yaml"):
        shutil.copy(file, folder)
    subprocess.run(
        [PYTHON, "-m", "toolcast", "generate"],
        cwd=folder,
        check=True,
        stderr=subprocess.DEVNULL,
    )
    ours = [PYTHON, "-m", "generated.visits.mcp_server"]
    python = install_python(FASTMCP) / "bin" / "python"
    theirs = [str(python), str(HERE / "fastmcp_server.py")]
    return [
        Candidate(OURS, ours, [*ours, "--http", "--port"], folder),
        Candidate(THEIRS, theirs, [*theirs, "--http"], HERE),
    ]


def start_http(server: Candidate) -> Http:
    port = free_port()
    return Http([*server.http, str(port)], server.folder, port, MODERN)


def main() -> None:
    """Print the handwritten lines, and ratios for each transport."""
    sources = {
        OURS: [*HERE.glob("toolcast/**/*.yaml"), *HERE.glob("toolcast/visits/*.py")],
        THEIRS: [HERE / "fastmcp_server.py"],
    }
    for name, files in sources.items():
        print(f"lines by hand, {name}: {count_lines(files)}")
    rounds = int(os.environ.get("ROUNDS", "5"))
    with tempfile.TemporaryDirectory(prefix="toolcast-four-") as name:
        servers = make_candidates(Path(name))
        starters: dict[str, Callable[[Candidate], Stdio | Http]] = {
            "stdio": lambda server: Stdio(server.stdio, server.folder),
            f"HTTP {MODERN}": start_http,
        }
        for transport, start in starters.items():
            figures = call_in_turn(servers, start, SEARCH, rounds, 300)
            starts = {n: [run.start for run in runs] for n, runs in figures.items()}
            calls = {n: [run.calls for run in runs] for n, runs in figures.items()}
            print(
                compare(
                    f"start to tools/list, {transport}", starts, THEIRS, OURS
                ).format_line()
            )
            print(compare(f"calls, {transport}", calls, THEIRS, OURS).format_line())


if __name__ == "__main__":
    main()
