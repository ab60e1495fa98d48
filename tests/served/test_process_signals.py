"""Termination signals of a server process: graceful stop, second signal and time limit."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

from toolcast_runtime.http.runner import HttpOptions
from toolcast_runtime.stdio import process
from toolcast_runtime.stdio.process import ProcessSignals


class Timer:
    """Timer that a test fires by itself."""

    started: list[Timer]

    def __init__(self, seconds: float, work: Any) -> None:
        self.seconds, self.fire = seconds, work
        self.daemon = False

    def start(self) -> None:
        self.started.append(self)


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> list[Timer]:
    """Replace `threading.Timer`; return the started timers."""
    Timer.started = []
    monkeypatch.setattr(process.threading, "Timer", Timer)
    return Timer.started


@pytest.fixture
def exits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Exit codes of immediate exits, which do not end the test process."""
    codes: list[int] = []
    monkeypatch.setattr(process.os, "_exit", codes.append)
    return codes


def test_server_stops_gracefully_at_the_first_signal_and_exits_at_the_second(
    timers: list[Timer], exits: list[int]
) -> None:
    """Time limit: ten seconds for running calls and five to close connections."""
    signals, requests = ProcessSignals(HttpOptions().grace), list[str]()
    before = {number: signal.getsignal(number) for number in process.SIGNALS}
    try:
        signals.install_handlers(lambda: requests.append("to end"))
        signal.raise_signal(signal.SIGTERM)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert requests == ["to end"]
    assert [(timer.seconds, timer.daemon) for timer in timers] == [(15.0, True)]
    signals._handle(signal.SIGINT, None)
    assert (exits, requests, len(timers)) == ([130], ["to end"], 1)


def test_termination_signal_before_start_exits_with_code_0(timers: list[Timer]) -> None:
    with pytest.raises(SystemExit) as error:
        ProcessSignals(1)._handle(signal.SIGTERM, None)
    assert error.value.code == 0
    assert [timer.seconds for timer in timers] == [6.0]


def test_http_worker_process_ignores_the_second_termination_signal(
    timers: list[Timer], exits: list[int]
) -> None:
    """Supervisors set the time limit and end their workers."""
    signals, requests = ProcessSignals(1, is_worker=True), list[str]()
    signals._stop = lambda: requests.append("to end")
    signals._handle(signal.SIGTERM, None)
    signals._handle(signal.SIGTERM, None)
    assert (requests, exits, timers) == (["to end"], [], [])


def test_server_process_that_exceeds_the_stop_time_exits_at_its_next_signal(
    timers: list[Timer], exits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The timer sends SIGTERM to the main thread, which then exits with code 0."""
    sent: list[Any] = []
    monkeypatch.setattr(process.signal, "pthread_kill", lambda *args: sent.append(args))
    signals = ProcessSignals(3)
    signals.exit_after(2)
    [timer] = timers
    assert timer.seconds == 7.0
    timer.fire()
    assert sent == [(threading.main_thread().ident, signal.SIGTERM)]
    with pytest.raises(SystemExit) as error:
        signals._handle(signal.SIGTERM, None)
    assert (error.value.code, exits) == (0, [])


def test_server_installs_no_signal_handlers_outside_the_main_thread() -> None:
    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=ProcessSignals(1).install_handlers)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is before
