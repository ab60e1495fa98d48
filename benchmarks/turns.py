"""Rounds that start all servers and then call them in round_number."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clients import Http, Stdio
from paired import Sample

_TURNS = 10
_WARMUP_CALLS = 20
_MAX_CALLS_IN_FLIGHT = 16
_MAX_TURN_S = 1.0


@dataclass(frozen=True)
class Candidate:
    """A server to measure.

    Attributes:
        name: short description.
        stdio: command line for stdio.
        http: command line for HTTP, without the port.
        folder: working directory.
    """

    name: str
    stdio: Sequence[str]
    http: Sequence[str]
    folder: Path


@dataclass(frozen=True)
class Round:
    """The results of a server in one round.

    Attributes:
        start: sample from the process start to the answer to `tools/list`.
        calls: sum of sequential calls; extrapolated for slow servers, which get fewer calls.
        seconds: wall-clock seconds of each call.
        rate: calls per second with 16 calls in flight; None over HTTP.
    """

    start: Sample
    calls: Sample
    seconds: Sequence[float]
    rate: float | None

    @property
    def median(self) -> float:
        """Median seconds of a call."""
        return statistics.median(self.seconds)

    @property
    def percentile_99(self) -> float:
        """99th percentile of a call, in seconds."""
        return sorted(self.seconds)[int(len(self.seconds) * 0.99)]


Figures = dict[str, list[Round]]
"""The rounds of each server, by its name."""


def call_in_turn(
    servers: Sequence[Candidate],
    start: Callable[[Candidate], Stdio | Http],
    call: Mapping[str, Any],
    rounds: int,
    calls: int,
) -> Figures:
    """Start all servers, then call them in round_number, in blocks of a tenth of the calls.

    The first round only fills the file system's caches and is not counted.
    """
    figures: Figures = {server.name: [] for server in servers}
    for round_number in range(rounds + 1):
        with pin_to_one_core():
            results = _run_round(servers, start, call, calls)
        if round_number:
            for server, result in zip(servers, results, strict=True):
                figures[server.name].append(result)
    return figures


@contextmanager
def pin_to_one_core() -> Iterator[None]:
    """Keep this process and its new child processes on one core.

    A server that passes a call between threads needs two to three times as long, in processor
    time too, if the threads are on different cores and wait for the interpreter lock. The
    system places threads at random, and changes the placement during a run.
    """
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _run_round(
    servers: Sequence[Candidate],
    start: Callable[[Candidate], Stdio | Http],
    call: Mapping[str, Any],
    calls: int,
) -> list[Round]:
    clients: list[Stdio | Http] = []
    try:
        for server in servers:
            clients.append(start(server))
        return _call_clients(clients, call, calls)
    finally:
        for client in clients:
            client.close()


def _call_clients(
    clients: Sequence[Stdio | Http], call: Mapping[str, Any], calls: int
) -> list[Round]:
    seconds: list[list[float]] = [[] for _ in clients]
    cpu_seconds = [0.0 for _ in clients]
    # The first call loads the handler and its schema, and fills the caches.
    call_seconds = [
        statistics.median(client.time_calls(call, _WARMUP_CALLS)) for client in clients
    ]
    for _ in range(_TURNS):
        for number, client in enumerate(clients):
            # Slow servers get fewer calls, so that a round_number lasts about a second.
            count = min(
                calls // _TURNS, max(5, int(_MAX_TURN_S / call_seconds[number]))
            )
            before = client.read_cpu_seconds()
            seconds[number] += client.time_calls(call, count)
            cpu_seconds[number] += client.read_cpu_seconds() - before
    rounds = []
    for number, client in enumerate(clients):
        scale = calls / len(seconds[number])
        rate = None
        if isinstance(client, Stdio):
            rate = calls / client.time_pipelined_calls(
                call, calls, _MAX_CALLS_IN_FLIGHT
            )
        clock = sum(seconds[number]) * scale
        sample = Sample(cpu_seconds[number] * scale, clock, client.read_memory())
        rounds.append(Round(client.start, sample, seconds[number], rate))
    return rounds


def build_table(title: str, figures: Figures, calls: int) -> list[list[str]]:
    """Build a table of each server's absolute figures, as medians over the rounds."""
    head = [title, "Start to list, s", "A call, µs", "99 of 100 calls, µs"]
    head += ["CPU µs a call", f"{_MAX_CALLS_IN_FLIGHT} at a time, calls/s", "MiB"]
    rows = [head]
    for name, rounds in figures.items():
        rates = [result.rate for result in rounds if result.rate is not None]
        rows.append(
            [
                name,
                f"{_median(result.start.clock for result in rounds):.2f}",
                f"{1e6 * _median(result.median for result in rounds):,.0f}",
                f"{1e6 * _median(result.percentile_99 for result in rounds):,.0f}",
                f"{1e6 * _median(result.calls.processor for result in rounds) / calls:,.0f}",
                f"{_median(rates):,.0f}" if rates else "-",
                f"{_median(result.calls.peak for result in rounds):.0f}",
            ]
        )
    return rows


def _median(figures: Iterable[float]) -> float:
    return statistics.median(figures)
