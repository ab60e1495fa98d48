"""Texts of strangers in logs and errors, and how many lines they may make."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.core.calls import untrusted_text
from toolcast_runtime.core.calls.untrusted_text import (
    RateLimitFilter,
    escape_controls,
    escape_excerpt,
    escape_unprintable,
    redact_text,
    redact_value,
)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain", "plain"),
        ("é 日", "é 日"),
        ("a\nb\t\x1b[1m", "a\\nb\\t\\x1b[1m"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u3164b", "a\\u3164b"),
        ("\u2764\ufe0f", "\u2764\ufe0f"),
        ("a\ufe0f", "a\\ufe0f"),
        ("a" + "\u0301" * 3, "a" + "\u0301" * 3),
        ("a" + "\u0301" * 4, "a" + "\u0301" * 3 + "\\u0301"),
        ("a\u0301" * 4, "a\u0301" * 4),
        ("a" + "\u20dd" * 4, "a" + "\u20dd" * 3 + "\\u20dd"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_is_not_seen_is_spelled_out(text: str, seen: str) -> None:
    assert escape_unprintable(text) == seen


def test_a_long_text_is_cut_off() -> None:
    assert escape_excerpt("a\\b") == "a\\\\b"
    assert escape_excerpt("x" * 300) == "x" * 300
    assert escape_excerpt("x" * 301) == "x" * 300 + "..."
    assert escape_excerpt("\n" * 3, 2) == "\\n\\n..."


def test_a_text_in_lines_drives_no_terminal() -> None:
    assert escape_controls("a\r\nb\tc\rd\x7f\x9b\x00") == "a\nb\tc\\rd\\x7f\\x9b\\x00"
    assert escape_controls("\x1f ~\x80\x9f\xa0") == "\\x1f ~\\x80\\x9f\xa0"


def test_secrets_are_replaced_wherever_they_stand() -> None:
    assert (
        redact_text("a s3cret-long s3", ["s3cret-long", "s3"]) == "a [hidden] [hidden]"
    )
    value: Any = {"s3": ["as3", 1, None, {"x": "s3"}], "y": True}
    assert redact_value(value, ("s3",)) == {
        "[hidden]": ["a[hidden]", 1, None, {"x": "[hidden]"}],
        "y": True,
    }
    assert redact_value(value, ()) is value


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=100.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr(untrusted_text, "time", clock)
    return clock


def told(only: RateLimitFilter, text: str, name: str = "n", **extra: Any) -> str | None:
    """The line that is let by; None when it is not."""
    record = logging.LogRecord(name, logging.INFO, "", 0, text, (), None)
    record.__dict__.update(extra)
    is_told = only.filter(record)
    assert "kind" not in record.__dict__
    return record.getMessage() if is_told else None


def test_one_line_of_a_kind_is_told_in_a_second(clock: SimpleNamespace) -> None:
    only = RateLimitFilter()
    assert told(only, "a", kind="k") == "a"
    for _ in range(2):
        assert told(only, "a", kind="k") is None
    assert told(only, "b", kind="l") == "b"
    assert told(only, "a") == told(only, "a") == "a"
    clock.now += 0.99
    assert told(only, "c", kind="k") is None
    clock.now += 0.01
    assert told(only, "d", kind="k") == "d (and 3 more of the kind)"
    assert told(only, "d", kind="k") is None
    clock.now += 1
    assert told(only, "e", kind="k") == "e (and 1 more of the kind)"
    clock.now += 1
    assert told(only, "f", kind="k") == "f"


def test_the_first_line_is_told_whatever_the_clock_says(clock: SimpleNamespace) -> None:
    clock.now = 0.0
    assert told(RateLimitFilter(), "a", kind="k") == "a"


def test_records_of_a_logger_are_of_one_kind_by_their_first_line(
    clock: SimpleNamespace,
) -> None:
    only = RateLimitFilter("noisy")
    assert told(only, "same\none", "noisy") == "same\none"
    assert told(only, "same\nother", "noisy") is None
    assert told(only, "other", "noisy") == "other"
    assert told(only, "same", "quiet") == told(only, "same", "quiet") == "same"
