"""Processes of external servers: the steps of stopping, and the inherited environment."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.external.conftest import Open, call_tool, odd_server
from toolcast_runtime.external import server_process, session


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


async def test_close_waits_8_seconds_for_a_connection_and_10_in_total(
    monkeypatch: pytest.MonkeyPatch, open_tools: Open
) -> None:
    """A connection that is not closed is cancelled and gets the same time again."""
    waits: list[float] = []

    async def wait(tasks: Any, timeout: float) -> None:
        waits.append(timeout)
        await asyncio.sleep(0)

    def limit(seconds: float) -> asyncio.Timeout:
        waits.append(seconds)
        return asyncio.timeouts.timeout(0)

    monkeypatch.setattr(asyncio, "wait", wait)
    monkeypatch.setattr(asyncio, "timeout", limit)
    task = asyncio.ensure_future(asyncio.Event().wait())
    await session._wait_until_closed(cast(Any, task))
    tools = open_tools()
    tools._connections["odd"] = cast(Any, SimpleNamespace(close=asyncio.Event().wait))
    await tools._close()
    assert task.cancelled() and waits == [8.0, 8.0, 10.0]


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


async def test_external_server_gets_only_declared_variables_and_their_values_are_hidden(
    open_tools: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """They are hidden in results, logs and `repr` texts."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ODD_TOKEN", "hunter2-hunter2")
    monkeypatch.setenv("UNDECLARED_TOKEN", "another-secret")
    server = odd_server("well", env={"TOKEN": "Key ${ODD_TOKEN}"})
    tools = open_tools(server)
    response = await call_tool(tools, "secret")
    assert "Key [hidden]" in response.result and "PATH" in response.result
    assert "UNDECLARED" not in response.result
    assert "hunter2" not in f"{response}{caplog.text}{server!r}{tools!r}"


async def test_unset_external_server_variable_is_logged_and_server_tools_omitted(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    assert "ODD_TOKEN" not in os.environ
    tools = open_tools(odd_server("well", env={"TOKEN": "${ODD_TOKEN}"}))
    assert await tools.list_tools() == ()
    assert "the environment variable ODD_TOKEN is not set" in caplog.text
