"""Four tools in Toolcast and in FastMCP: lines by hand, start and calls, as ratios.

Run as `.venv/bin/python benchmarks/four_tools/measure.py`; FastMCP gets an environment of its
own below `.toolcast/`. Both servers are started in turn and take turns at being called, so a
ratio is of two runs of the same round. ROUNDS=5 says how many.
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
from generators import installed_python
from paired import PYTHON, compare
from turns import Candidate, call_in_turn

FASTMCP = "fastmcp==4.1.2"
OURS, THEIRS = "Toolcast", "FastMCP"
SEARCH: dict[str, Any] = {
    "name": "search_visits",
    "arguments": {"day": "2026-11-23", "limit": 5},
}


def lines(files: Iterable[Path]) -> int:
    """Lines that somebody has written, blank ones left out."""
    return sum(bool(line.strip()) for file in files for line in file.open())


def candidates(folder: Path) -> list[Candidate]:
    """Both servers; ours is generated first."""
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
    python = installed_python(FASTMCP) / "bin" / "python"
    theirs = [str(python), str(HERE / "fastmcp_server.py")]
    return [
        Candidate(OURS, ours, [*ours, "--http", "--port"], folder),
        Candidate(THEIRS, theirs, [*theirs, "--http"], HERE),
    ]


def over_http(server: Candidate) -> Http:
    port = free_port()
    return Http([*server.http, str(port)], server.folder, port, MODERN)


def main() -> None:
    """Prints the lines by hand, and a ratio for each transport."""
    written = {
        OURS: [*HERE.glob("toolcast/**/*.yaml"), *HERE.glob("toolcast/visits/*.py")],
        THEIRS: [HERE / "fastmcp_server.py"],
    }
    for name, files in written.items():
        print(f"lines by hand, {name}: {lines(files)}")
    rounds = int(os.environ.get("ROUNDS", "5"))
    with tempfile.TemporaryDirectory(prefix="toolcast-four-") as place:
        servers = candidates(Path(place))
        ways: dict[str, Callable[[Candidate], Stdio | Http]] = {
            "stdio": lambda server: Stdio(server.stdio, server.folder),
            f"HTTP {MODERN}": over_http,
        }
        for way, start in ways.items():
            figures = call_in_turn(servers, start, SEARCH, rounds, 300)
            starts = {n: [one.start for one in found] for n, found in figures.items()}
            calls = {n: [one.calls for one in found] for n, found in figures.items()}
            print(compare(f"start to tools/list, {way}", starts, THEIRS, OURS).line())
            print(compare(f"calls, {way}", calls, THEIRS, OURS).line())


if __name__ == "__main__":
    main()
