"""The newest report of a call on one line of the terminal."""

from __future__ import annotations

import io
import sys

import pytest

from toolcast_runtime.cli.terminal import ProgressLine


class Watched(io.StringIO):
    """A stream that a person watches."""

    def isatty(self) -> bool:
        return True

    def said(self) -> str:
        """What was written since the last time."""
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
async def test_a_report_is_shown(
    monkeypatch: pytest.MonkeyPatch, report: tuple[float, ...], text: str
) -> None:
    stream = Watched()
    monkeypatch.setattr(sys, "stderr", stream)
    await ProgressLine(["s3cret"])(*report)
    assert stream.said() == f"\r{text}"


async def test_a_report_takes_the_positional_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = Watched()
    monkeypatch.setattr(sys, "stderr", stream)
    progress = ProgressLine()
    progress.clear()
    assert stream.said() == ""
    for value, text in ((100, "\r100"), (5, "\r5  "), (7, "\r7")):
        await progress(value)
        assert stream.said() == text
    progress.clear()
    assert stream.said() == "\r \r"
    progress.clear()
    assert stream.said() == ""


async def test_what_is_no_report_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Watched()
    monkeypatch.setattr(sys, "stderr", stream)
    progress = ProgressLine()
    assert not progress.is_paused
    await progress(float("nan"))
    progress.is_paused = True
    await progress(1)
    assert stream.said() == ""
    monkeypatch.setattr(stream, "isatty", lambda: False)
    unwatched = ProgressLine()
    await unwatched(1)
    unwatched.clear()
    assert stream.said() == ""
