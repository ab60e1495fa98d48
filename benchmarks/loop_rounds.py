"""How many rounds of a server's event loop a call takes.

A round takes in everything that became ready and lets it run. With many sessions at once each
round carries all of them, so what a call waits for is its rounds more than its own work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clients import Http, Stdio
from turns import Candidate

__all__ = ["rounds_table"]

_COUNTED = str(Path(__file__).parent / "peer_servers" / "counted.py")
_WARMING = 20


def rounds_table(
    servers: Sequence[Candidate],
    transports: Mapping[str, Callable[[Candidate], Stdio | Http]],
    call: Mapping[str, Any],
    calls: int,
    folder: Path,
) -> list[list[str]]:
    """Return event loop rounds per call: a row per server, a column per transport."""
    count = folder / "rounds"
    rows = [["Rounds of the event loop a call", *transports]]
    for server in servers:
        counted = replace(
            server,
            stdio=_counting(server.stdio, count),
            http=_counting(server.http, count),
        )
        cells = []
        for start in transports.values():
            # On all cores: on one, a round takes in less, as its caller waits for the core.
            client = start(counted)
            try:
                client.calls(call, _WARMING)
                before = _number(count)
                client.calls(call, calls)
                cells.append(f"{(_number(count) - before) / calls:.1f}")
            finally:
                client.close()
        rows.append([server.name, *cells])
    return rows


def _counting(command: Sequence[str], count: Path) -> list[str]:
    python, *words = command
    return [python, _COUNTED, str(count), *words]


def _number(count: Path) -> int:
    return int.from_bytes(count.read_bytes(), "little")
