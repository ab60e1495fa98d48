"""How the process of an external server is ended, step by step."""

from __future__ import annotations

import signal
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.external import server_process


class Process:
    """Ends when its clock says so, or by one of these signals."""

    pid = 7

    def __init__(self, ends: float, by: tuple[int, ...] = ()) -> None:
        self.ends, self.by = ends, by
        self.now = 0.0
        self.done: list[Any] = []
        self.stdin = SimpleNamespace(close=lambda: self.done.append("input"))

    @property
    def returncode(self) -> int | None:
        return 0 if self.now >= self.ends else None

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    def close(self) -> None:
        self.done.append("closed")

    def killed(self, pid: int, number: int) -> None:
        assert pid == 7
        self.done.append((round(self.now, 1), number))
        if number in self.by:
            self.ends = self.now


TERM, KILL = signal.SIGTERM, signal.SIGKILL


@pytest.mark.parametrize(
    ("process", "signals"),
    [
        (Process(0.0), [(0.0, KILL)]),
        (Process(1.9), [(1.9, KILL)]),
        (Process(99.0, (TERM,)), [(2.0, TERM), (2.0, KILL)]),
        (Process(99.0, (KILL,)), [(2.0, TERM), (3.0, KILL), (3.0, KILL)]),
        (Process(99.0), [(2.0, TERM), (3.0, KILL), (4.0, KILL)]),
    ],
)
async def test_a_process_is_asked_to_end_and_then_made_to(
    monkeypatch: pytest.MonkeyPatch, process: Process, signals: list[Any]
) -> None:
    """Two seconds are given here; a second is what each signal has."""
    fake = SimpleNamespace(sleep=process.sleep)
    monkeypatch.setattr(server_process, "asyncio", fake)
    monkeypatch.setattr(server_process, "time", process)
    monkeypatch.setattr(server_process.os, "killpg", process.killed)
    given: Any = process
    await server_process.stop(given, 2.0)
    assert process.done == ["input", *signals, "closed"]


def test_what_a_server_inherits(monkeypatch: pytest.MonkeyPatch) -> None:
    name = next(iter(server_process._INHERITED))
    monkeypatch.setenv("TOYS_SECRET", "x")
    monkeypatch.setenv(name, "here")
    found = server_process._default_environment()
    assert found[name] == "here"
    assert "TOYS_SECRET" not in found
    monkeypatch.setenv(name, "() { :; }")
    assert name not in server_process._default_environment()
