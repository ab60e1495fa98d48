"""Number of event loop iterations per call.

An iteration runs every callback that became ready. With many concurrent sessions each
iteration serves all of them, so latency depends more on iterations than on a call's own work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clients import Http, Stdio
from turns import Candidate

_COUNTED = str(Path(__file__).parent / "peer_servers" / "counting_server.py")
_WARMUP_CALLS = 20


def measure_rounds(
    servers: Sequence[Candidate],
    transports: Mapping[str, Callable[[Candidate], Stdio | Http]],
    call: Mapping[str, Any],
    calls: int,
    folder: Path,
) -> list[list[str]]:
    """Return a table with a row per server, a column per transport."""
    count = folder / "rounds"
    rows = [["Rounds of the event loop a call", *transports]]
    for server in servers:
        counting_server = replace(
            server,
            stdio=_add_counter(server.stdio, count),
            http=_add_counter(server.http, count),
        )
        cells = []
        for start in transports.values():
            # Use all cores: on one core the client waits, so an iteration serves fewer events.
            client = start(counting_server)
            try:
                client.time_calls(call, _WARMUP_CALLS)
                before = _read_count(count)
                client.time_calls(call, calls)
                cells.append(f"{(_read_count(count) - before) / calls:.1f}")
            finally:
                client.close()
        rows.append([server.name, *cells])
    return rows


def _add_counter(command: Sequence[str], count: Path) -> list[str]:
    python, *arguments = command
    return [python, _COUNTED, str(count), *arguments]


def _read_count(count: Path) -> int:
    return int.from_bytes(count.read_bytes(), "little")
