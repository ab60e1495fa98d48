"""Untrusted text in logs and errors: escaping, redaction and rate limits."""

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
    ("text", "expected"),
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
def test_escape_unprintable_escapes_invisible_characters_and_excess_combining_marks(
    text: str, expected: str
) -> None:
    assert escape_unprintable(text) == expected


def test_escape_excerpt_escapes_and_truncates_to_300_characters_or_the_limit() -> None:
    assert escape_excerpt("a\\b") == "a\\\\b"
    assert escape_excerpt("x" * 300) == "x" * 300
    assert escape_excerpt("x" * 301) == "x" * 300 + "..."
    assert escape_excerpt("\n" * 3, 2) == "\\n\\n..."


def test_escape_controls_escapes_all_but_tabs_and_line_feeds() -> None:
    assert escape_controls("a\r\nb\tc\rd\x7f\x9b\x00") == "a\nb\tc\\rd\\x7f\\x9b\\x00"
    assert escape_controls("\x1f ~\x80\x9f\xa0") == "\\x1f ~\\x80\\x9f\xa0"


def test_redact_text_and_redact_value_hide_secrets_in_text_keys_and_values() -> None:
    text = redact_text("a s3cret-long s3", ["s3cret-long", "s3"])
    assert text == "a [hidden] [hidden]"
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


def filter_line(
    limiter: RateLimitFilter, text: str, name: str = "n", **extra: Any
) -> str | None:
    """Return the line that passes the filter, or None."""
    record = logging.LogRecord(name, logging.INFO, "", 0, text, (), None)
    record.__dict__.update(extra)
    is_passed = limiter.filter(record)
    assert "kind" not in record.__dict__
    return record.getMessage() if is_passed else None


def test_rate_limit_filter_passes_one_record_per_kind_and_second(
    clock: SimpleNamespace,
) -> None:
    """Dropped records are counted in the next record that passes."""
    clock.now = 0.0
    assert filter_line(RateLimitFilter(), "a", kind="k") == "a"
    clock.now = 100.0
    limiter = RateLimitFilter()
    assert filter_line(limiter, "a", kind="k") == "a"
    for _ in range(2):
        assert filter_line(limiter, "a", kind="k") is None
    assert filter_line(limiter, "b", kind="l") == "b"
    assert filter_line(limiter, "a") == filter_line(limiter, "a") == "a"
    clock.now += 0.99
    assert filter_line(limiter, "c", kind="k") is None
    clock.now += 0.01
    assert filter_line(limiter, "d", kind="k") == "d (and 3 more of the kind)"
    assert filter_line(limiter, "d", kind="k") is None
    clock.now += 1
    assert filter_line(limiter, "e", kind="k") == "e (and 1 more of the kind)"
    clock.now += 1
    assert filter_line(limiter, "f", kind="k") == "f"


def test_rate_limit_filter_groups_records_by_first_line(clock: SimpleNamespace) -> None:
    limiter = RateLimitFilter("noisy")
    assert filter_line(limiter, "same\none", "noisy") == "same\none"
    assert filter_line(limiter, "same\nother", "noisy") is None
    assert filter_line(limiter, "other", "noisy") == "other"
    for _ in range(2):
        assert filter_line(limiter, "same", "quiet") == "same"
