"""What the signals do that ask a process to end, one after the other."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

from toolcast_runtime.http.runner import HttpOptions
from toolcast_runtime.stdio import process
from toolcast_runtime.stdio.process import ProcessSignals


class Timer:
    """A timer that the test lets go off."""

    started: list[Timer]

    def __init__(self, seconds: float, work: Any) -> None:
        self.seconds, self.go_off = seconds, work
        self.daemon = False

    def start(self) -> None:
        self.started.append(self)


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> list[Timer]:
    Timer.started = []
    monkeypatch.setattr(process.threading, "Timer", Timer)
    return Timer.started


@pytest.fixture
def exits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []
    monkeypatch.setattr(process.os, "_exit", found.append)
    return found


def test_the_first_signal_asks_and_the_second_ends(
    timers: list[Timer], exits: list[int]
) -> None:
    """Unless said otherwise calls have ten seconds, and what is open five more."""
    ending, asked = ProcessSignals(HttpOptions().grace), list[str]()
    before = {number: signal.getsignal(number) for number in process.SIGNALS}
    try:
        ending.install_handlers(lambda: asked.append("to end"))
        signal.raise_signal(signal.SIGTERM)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert asked == ["to end"]
    assert [(one.seconds, one.daemon) for one in timers] == [(15.0, True)]
    ending._handle(signal.SIGINT, None)
    assert (exits, asked, len(timers)) == ([130], ["to end"], 1)


def test_it_is_left_at_once_while_nobody_is_there_to_be_asked(
    timers: list[Timer],
) -> None:
    with pytest.raises(SystemExit) as left:
        ProcessSignals(1)._handle(signal.SIGTERM, None)
    assert left.value.code == 0
    assert [one.seconds for one in timers] == [6.0]


def test_a_worker_leaves_the_second_signal_to_its_supervisor(
    timers: list[Timer], exits: list[int]
) -> None:
    ending, asked = ProcessSignals(1, is_worker=True), list[str]()
    ending._stop = lambda: asked.append("to end")
    ending._handle(signal.SIGTERM, None)
    ending._handle(signal.SIGTERM, None)
    assert (asked, exits, timers) == (["to end"], [], [])


def test_a_process_that_does_not_end_in_time_is_left(
    timers: list[Timer], exits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(
        process.signal, "pthread_kill", lambda *given: sent.append(given)
    )
    ending = ProcessSignals(3)
    ending.exit_after(2)
    [timer] = timers
    assert timer.seconds == 7.0
    timer.go_off()
    assert sent == [(threading.main_thread().ident, signal.SIGTERM)]
    with pytest.raises(SystemExit) as left:
        ending._handle(signal.SIGTERM, None)
    assert (left.value.code, exits) == (0, [])


def test_in_another_thread_no_signal_is_taken() -> None:
    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=ProcessSignals(1).install_handlers)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is before
