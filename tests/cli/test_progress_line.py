"""The latest progress report of a call on one line of the terminal."""

from __future__ import annotations

import io
import sys

import pytest

from toolcast_runtime.cli.terminal import ProgressLine


class TerminalStream(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True

    def read_new_text(self) -> str:
        """Return the text that was written since the last call."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


@pytest.mark.parametrize(
    ("report", "text"),
    [
        ((1,), "1"),
        ((0.5, 2), "0.5 of 2 (25%)"),
        ((3, 2), "3 of 2 (100%)"),
        ((1, 0), "1"),
        ((1, -1), "1"),
        ((1, 0.5), "1 of 0.5 (100%)"),
        ((1, float("inf")), "1"),
        ((1, None, "half"), "1  half"),
        ((1, 2, "a s3cret"), "1 of 2 (50%)  a [hidden]"),
        ((1, None, "é\n"), "1  \\xe9\\n"),
        ((1, None, "x" * 99), "1  " + "x" * 75),
    ],
)
async def test_progress_line_prints_a_call_progress_report_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, report: tuple[float, ...], text: str
) -> None:
    stream = TerminalStream()
    monkeypatch.setattr(sys, "stderr", stream)
    await ProgressLine(["s3cret"])(*report)
    assert stream.read_new_text() == f"\r{text}"


async def test_progress_line_replaces_the_previous_progress_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = TerminalStream()
    monkeypatch.setattr(sys, "stderr", stream)
    progress = ProgressLine()
    progress.clear()
    assert stream.read_new_text() == ""
    for value, text in ((100, "\r100"), (5, "\r5  "), (7, "\r7")):
        await progress(value)
        assert stream.read_new_text() == text
    progress.clear()
    assert stream.read_new_text() == "\r \r"
    progress.clear()
    assert stream.read_new_text() == ""


async def test_progress_line_prints_no_nan_no_report_while_paused_and_nothing_off_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = TerminalStream()
    monkeypatch.setattr(sys, "stderr", stream)
    progress = ProgressLine()
    assert not progress.is_paused
    await progress(float("nan"))
    progress.is_paused = True
    await progress(1)
    assert stream.read_new_text() == ""
    monkeypatch.setattr(stream, "isatty", lambda: False)
    without_terminal = ProgressLine()
    await without_terminal(1)
    without_terminal.clear()
    assert stream.read_new_text() == ""
