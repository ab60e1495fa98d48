"""How long a call takes while 200 HTTP sessions call at once, beside the plain SDK.

The servers and the calls are those of `make bench-load`: an async tool by itself, and all of them
mixed. A server has one core, and the sessions have the others.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "load"))

from generation import Sizes
from load_calls import MIXED, SESSIONS, Call, load
from load_servers import OURS, PLAIN, Running, servers
from other_pythons import pythons
from paired import Row, Sample, compare
from results import Part

__all__ = ["sessions_part"]


def sessions_part(folder: Path, sizes: Sizes) -> Part:
    """Measure the median time and the CPU time of a call."""
    seconds = 8.0 if sizes.rounds > 1 else 2.0
    alone = [call for call in MIXED if call.what == "async"]
    rows = []
    for version, python in pythons():
        started = servers(folder, python, with_fastmcp=False)
        try:
            with _on_cores_of_their_own(started):
                for what, calls in (("an async tool", alone), ("mixed tools", MIXED)):
                    work = f"{what}, {SESSIONS} sessions, Python {version}"
                    rows.append(_row(work, started, calls, seconds, sizes.few))
        finally:
            for server in started:
                server.end()
    return Part(rows)


def _row(
    work: str,
    started: Sequence[Running],
    calls: Sequence[Call],
    seconds: float,
    rounds: int,
) -> Row:
    samples: dict[str, list[Sample]] = {server.name: [] for server in started}
    for turn in range(rounds + 1):
        for server in started:
            used = server.used()
            run = asyncio.run(load(server.port, server.path, seconds, calls))
            if run.errors:
                raise SystemExit(f"{server.name}: {run.errors.most_common(3)}")
            processor = (server.used() - used) / run.count
            median = run.percentile(50) / 1000
            if turn:
                samples[server.name].append(Sample(processor, median, server.memory()))
    return compare(work, samples, PLAIN, OURS)


@contextmanager
def _on_cores_of_their_own(started: Sequence[Running]) -> Iterator[None]:
    cores = os.sched_getaffinity(0)
    own = {max(cores)}
    for server in started:
        server.stay_on(own)
    os.sched_setaffinity(0, cores - own or cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
