"""Latency of calls with 200 concurrent HTTP sessions, compared with the plain SDK.

The servers and calls are those of `make bench-load`: only the async tool, and all tools mixed.
The servers have one core, and the sessions the others.
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
from load_servers import OURS, PLAIN, ServerProcess, start_servers
from other_pythons import list_pythons
from paired import Row, Sample, compare
from results import Part


def sessions_part(folder: Path, sizes: Sizes) -> Part:
    """Compare the median latency and the processor time per call."""
    rounds, seconds = sizes.few_rounds, 8.0 if sizes.rounds > 1 else 2.0
    single = [call for call in MIXED if call.kind == "async"]
    rows = []
    for version, python in list_pythons():
        running = start_servers(folder, python, with_fastmcp=False)
        try:
            with _pin_to_own_cores(running):
                for kind, calls in (("an async tool", single), ("mixed tools", MIXED)):
                    work = f"{kind}, {SESSIONS} sessions, Python {version}"
                    rows.append(_compare(work, running, calls, seconds, rounds))
        finally:
            for server in running:
                server.stop()
    return Part(rows)


def _compare(
    work: str,
    running: Sequence[ServerProcess],
    calls: Sequence[Call],
    seconds: float,
    rounds: int,
) -> Row:
    samples: dict[str, list[Sample]] = {server.name: [] for server in running}
    for round_number in range(rounds + 1):
        for server in running:
            before = server.read_cpu_seconds()
            run = asyncio.run(load(server.port, server.path, seconds, calls))
            if run.errors:
                raise SystemExit(f"{server.name}: {run.errors.most_common(3)}")
            processor = (server.read_cpu_seconds() - before) / run.count
            median = run.percentile(50) / 1000
            if round_number:
                samples[server.name].append(
                    Sample(processor, median, server.read_memory())
                )
    return compare(work, samples, PLAIN, OURS)


@contextmanager
def _pin_to_own_cores(running: Sequence[ServerProcess]) -> Iterator[None]:
    cores = os.sched_getaffinity(0)
    own = {max(cores)}
    for server in running:
        server.pin_to(own)
    os.sched_setaffinity(0, cores - own or cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)
