"""Cost of logging each call: a server with a text line, a JSON line and no line per call.

With BEFORE=FOLDER, the same server also runs on the runtime of that checkout. The called tool
does almost no work, so that the figures show the cost of the runtime.
"""

from __future__ import annotations

import os
from pathlib import Path

from generation import Sizes, generate_and_commit
from paired import PYTHON
from results import Part
from servers import CALL, CLIENTS, compare_servers, get_calls, list_transports
from turns import Candidate, build_table, call_in_turn
from workspaces import make_real_project

_NONE, _TEXT, _JSON, _BEFORE = "no line", "a line a call", "a line of JSON", "BEFORE"


def watching_part(folder: Path, sizes: Sizes) -> Part:
    """Compare calls over stdio and HTTP with each kind of logging."""
    calls = 1_000 if sizes.rounds > 1 else 100
    workspace = make_real_project(folder, sizes.small, toolset=CLIENTS)
    generate_and_commit(workspace)
    argv = [PYTHON, "-m", "generated.things.mcp_server"]
    options_by_name = {
        _NONE: ["--log-level", "error"],
        _TEXT: [],
        _JSON: ["--log-format", "json"],
    }
    commands = {name: [*argv, *options] for name, options in options_by_name.items()}
    if before := os.environ.get("BEFORE"):
        runtime = f"PYTHONPATH={Path(before, 'runtime').absolute()}"
        commands[_BEFORE] = ["/usr/bin/env", runtime, *argv]
    servers = [
        Candidate(name, command, [*command, "--http", "--port"], workspace.root)
        for name, command in commands.items()
    ]
    rows, tables = [], []
    for transport, start in list_transports():
        figures = call_in_turn(servers, start, CALL, sizes.few_rounds, calls)
        rows += compare_servers(f"calls over {transport}", get_calls(figures), _TEXT)
        tables.append(build_table(transport, figures, calls))
    return Part(rows, tables=tables)
