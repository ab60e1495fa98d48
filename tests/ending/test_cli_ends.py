"""Ctrl-C during a generated command cancels the running handler."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.ending.conftest import TIMEOUT_S, SlowProject


@pytest.mark.parametrize(
    ("tool", "events"),
    [
        ("sync_polite", ["begun", "cancelled", "atexit"]),
        ("async_endless", ["begun", "cancelled", "atexit"]),
        pytest.param("sync_endless", ["begun", "atexit"], marks=pytest.mark.slow),
    ],
)
def test_generated_cli_on_ctrl_c_cancels_the_running_handler_and_exits_with_1(
    project: SlowProject, tool: str, events: list[str]
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "generated.slow.cli", tool.replace("_", "-")],
        cwd=project.root,
        env={**os.environ, **project.environment},
        stderr=subprocess.PIPE,
        # Background jobs of a shell ignore SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    project.wait_for_event("begun")
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    errors = process.stderr.read().decode()
    assert process.wait(TIMEOUT_S) == 1, errors
    assert "Traceback" not in errors
    assert project.events == events
    assert project.outcomes == {tool: "cancelled"}
