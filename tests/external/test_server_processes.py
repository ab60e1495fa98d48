"""Processes of external servers: the steps of stopping, and the inherited environment."""

from __future__ import annotations

import signal
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.external import server_process


class FakeProcess:
    """A process that exits at a time of its clock, or at the first of some signals."""

    pid = 7

    def __init__(self, exit_time: float, exit_signals: tuple[int, ...] = ()) -> None:
        self.exit_time, self.exit_signals = exit_time, exit_signals
        self.now = 0.0
        self.events: list[Any] = []
        self.stdin = SimpleNamespace(close=lambda: self.events.append("input"))

    @property
    def returncode(self) -> int | None:
        return 0 if self.now >= self.exit_time else None

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    def close(self) -> None:
        self.events.append("closed")

    def kill_group(self, pid: int, number: int) -> None:
        assert pid == 7
        self.events.append((round(self.now, 1), number))
        if number in self.exit_signals:
            self.exit_time = self.now


TERM, KILL = signal.SIGTERM, signal.SIGKILL


@pytest.mark.parametrize(
    ("process", "signals"),
    [
        (FakeProcess(0.0), [(0.0, KILL)]),
        (FakeProcess(1.9), [(1.9, KILL)]),
        (FakeProcess(99.0, (TERM,)), [(2.0, TERM), (2.0, KILL)]),
        (FakeProcess(99.0, (KILL,)), [(2.0, TERM), (3.0, KILL), (3.0, KILL)]),
        (FakeProcess(99.0), [(2.0, TERM), (3.0, KILL), (4.0, KILL)]),
    ],
)
async def test_external_server_stop_closes_stdin_then_terminates_then_kills(
    monkeypatch: pytest.MonkeyPatch, process: FakeProcess, signals: list[Any]
) -> None:
    """The process has two seconds after its stdin is closed and one after each signal."""
    fake = SimpleNamespace(sleep=process.sleep)
    monkeypatch.setattr(server_process, "asyncio", fake)
    monkeypatch.setattr(server_process, "time", process)
    monkeypatch.setattr(server_process.os, "killpg", process.kill_group)
    stopped: Any = process
    await server_process.stop(stopped, 2.0)
    assert process.events == ["input", *signals, "closed"]


def test_external_server_process_inherits_only_listed_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Values that define shell functions are not inherited."""
    name = next(iter(server_process._INHERITED))
    monkeypatch.setenv("TOYS_SECRET", "x")
    monkeypatch.setenv(name, "here")
    environment = server_process._default_environment()
    assert environment[name] == "here"
    assert "TOYS_SECRET" not in environment
    monkeypatch.setenv(name, "() { :; }")
    assert name not in server_process._default_environment()
