"""What a log line a call costs: one server with it, as JSON, and without.

With BEFORE, the folder of another checkout, the same server runs on that one's runtime, too. The
calls are of a tool that does next to nothing, so that what stands around it is all that is measured.
"""

from __future__ import annotations

import os
from pathlib import Path

from generation import Sizes, prepared
from paired import PYTHON
from results import Part
from servers import CALL, CLIENTS, beside, calls_of, transports
from turns import Candidate, call_in_turn, table
from workspaces import real

__all__ = ["watching_part"]

_NONE, _TEXT, _JSON, _BEFORE = "no line", "a line a call", "a line of JSON", "BEFORE"


def watching_part(folder: Path, sizes: Sizes) -> Part:
    """Measure calls over stdio and HTTP."""
    calls = 1_000 if sizes.rounds > 1 else 100
    workspace = real(folder, sizes.small, toolset=CLIENTS)
    prepared(workspace)
    words = [PYTHON, "-m", "generated.things.mcp_server"]
    more = {_NONE: ["--log-level", "error"], _TEXT: [], _JSON: ["--log-format", "json"]}
    commands = {name: [*words, *options] for name, options in more.items()}
    if before := os.environ.get("BEFORE"):
        runtime = f"PYTHONPATH={Path(before, 'runtime').absolute()}"
        commands[_BEFORE] = ["/usr/bin/env", runtime, *words]
    servers = [
        Candidate(name, command, [*command, "--http", "--port"], workspace.root)
        for name, command in commands.items()
    ]
    rows, tables = [], []
    for transport, start in transports():
        figures = call_in_turn(servers, start, CALL, sizes.few, calls)
        rows += beside(f"calls over {transport}", calls_of(figures), _TEXT)
        tables.append(table(transport, figures, calls))
    return Part(rows, tables=tables)
