"""Ctrl-C ends the work of a command, and not just the waiting for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.ending.conftest import Slow, waited


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        ("sync_polite", ["begun", "cancelled", "atexit"]),
        ("async_endless", ["begun", "cancelled", "atexit"]),
        pytest.param("sync_endless", ["begun", "atexit"], marks=pytest.mark.slow),
    ],
)
def test_an_interrupt_reaches_the_handler(
    slow: Slow, tool: str, told: list[str]
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "generated.slow.cli", tool.replace("_", "-")],
        cwd=slow.root,
        env={**os.environ, **slow.environment},
        stderr=subprocess.PIPE,
        # A shell may have told its background jobs to ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    slow.wait_for(lambda: "begun" in slow.told)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    said = process.stderr.read().decode()
    code, seconds = waited(process)
    assert (code, seconds < 10) == (1, True), said
    assert "Traceback" not in said
    assert slow.told == told
    assert slow.outcomes == {tool: "cancelled"}
