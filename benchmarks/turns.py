"""Rounds in which servers are started in turn, and then take turns at being called."""

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

__all__ = ["Candidate", "Figures", "call_in_turn", "on_one_core", "table"]

_TURNS = 10
_WARMING = 20
_AT_A_TIME = 16
_LONGEST_TURN = 1.0


@dataclass(frozen=True)
class Candidate:
    """A server to measure.

    Attributes:
        name: what it is.
        stdio: its command.
        http: its command but for the port.
        folder: where it runs.
    """

    name: str
    stdio: Sequence[str]
    http: Sequence[str]
    folder: Path


@dataclass(frozen=True)
class Round:
    """The measurements of a server in a round.

    Attributes:
        start: from the start of the process to the answered `tools/list`.
        calls: one after the other; of a slow server fewer are made, and as many counted.
        seconds: of each of them by the clock.
        rate: calls a second with 16 under way at a time; None where there is no such figure.
    """

    start: Sample
    calls: Sample
    seconds: Sequence[float]
    rate: float | None

    @property
    def median(self) -> float:
        """The median of the calls in seconds."""
        return statistics.median(self.seconds)

    @property
    def slow(self) -> float:
        """The 99th percentile of the calls in seconds."""
        return sorted(self.seconds)[int(len(self.seconds) * 0.99)]


Figures = dict[str, list[Round]]
"""The rounds by the servers' names."""


def call_in_turn(
    servers: Sequence[Candidate],
    start: Callable[[Candidate], Stdio | Http],
    call: Mapping[str, Any],
    rounds: int,
    calls: int,
) -> Figures:
    """Start every server in turn, then make a tenth of the calls to each in turn.

    A round that comes before, and is not counted, warms the caches of files.
    """
    figures: Figures = {server.name: [] for server in servers}
    for turn in range(rounds + 1):
        with on_one_core():
            found = _round(servers, start, call, calls)
        if turn:
            for server, one in zip(servers, found, strict=True):
                figures[server.name].append(one)
    return figures


@contextmanager
def on_one_core() -> Iterator[None]:
    """Pin this process and its children to a core.

    A server whose threads hand a call on to each other takes two or three times as long, by
    processor time as well, while they are on different cores and wait for the interpreter's
    lock there. Where the system puts them is chance, and changes in the midst of a run.
    """
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _round(
    servers: Sequence[Candidate],
    start: Callable[[Candidate], Stdio | Http],
    call: Mapping[str, Any],
    calls: int,
) -> list[Round]:
    clients: list[Stdio | Http] = []
    try:
        for server in servers:
            clients.append(start(server))
        return _called(clients, call, calls)
    finally:
        for client in clients:
            client.close()


def _called(
    clients: Sequence[Stdio | Http], call: Mapping[str, Any], calls: int
) -> list[Round]:
    seconds: list[list[float]] = [[] for _ in clients]
    used = [0.0 for _ in clients]
    # The first call loads the handler, its schema and the caches.
    warmed = [statistics.median(client.calls(call, _WARMING)) for client in clients]
    for _ in range(_TURNS):
        for number, client in enumerate(clients):
            # A server that takes 0.1 s per call would take too long.
            count = min(calls // _TURNS, max(5, int(_LONGEST_TURN / warmed[number])))
            before = client.used()
            seconds[number] += client.calls(call, count)
            used[number] += client.used() - before
    found = []
    for number, client in enumerate(clients):
        each = calls / len(seconds[number])
        rate = None
        if isinstance(client, Stdio):
            rate = calls / client.pipelined(call, calls, _AT_A_TIME)
        took = sum(seconds[number]) * each
        sample = Sample(used[number] * each, took, client.memory())
        found.append(Round(client.start, sample, seconds[number], rate))
    return found


def table(title: str, figures: Figures, calls: int) -> list[list[str]]:
    """Return the measurements of each server as medians over the rounds."""
    head = [title, "Start to list, s", "A call, µs", "99 of 100 calls, µs"]
    head += ["CPU µs a call", f"{_AT_A_TIME} at a time, calls/s", "MiB"]
    rows = [head]
    for name, found in figures.items():
        rates = [one.rate for one in found if one.rate is not None]
        rows.append(
            [
                name,
                f"{_middle(one.start.clock for one in found):.2f}",
                f"{1e6 * _middle(one.median for one in found):,.0f}",
                f"{1e6 * _middle(one.slow for one in found):,.0f}",
                f"{1e6 * _middle(one.calls.processor for one in found) / calls:,.0f}",
                f"{_middle(rates):,.0f}" if rates else "-",
                f"{_middle(one.calls.peak for one in found):.0f}",
            ]
        )
    return rows


def _middle(figures: Iterable[float]) -> float:
    return statistics.median(figures)
