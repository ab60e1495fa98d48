"""Patterns mean what ECMA-262 means; docs/runtime.md lists each place where they do not."""

from __future__ import annotations

import re

import pytest

from toolcast_runtime.core.calls.tool_validators import Validators
from toolcast_runtime.core.definitions.tool import Tool

AS_ECMA_UNLIKE_PYTHON = [
    (r"^a$", "a\n", False),
    (r"^\d$", "٣", False),
    (r"^\D$", "٣", True),
    (r"^\w$", "é", False),
    (r"^\W$", "é", True),
    (r"^\s$", "\ufeff", True),
    (r"^\s$", "\x1c", False),
    (r"^.$", "\u2028", False),
    (r"^.$", "\r", False),
]
NOT_IN_PYTHON = [
    (r"^\p{Lu}$", "É", True),
    (r"^\cA$", "\x01", True),
    (r"^(?<n>a)$", "a", True),
    (r"(?<=a+)b", "aab", True),
    (r"^\u{1F600}$", "\U0001f600", True),
]
UNLIKE_ECMA = [
    # ECMA-262 says no, for its `\b` knows ASCII only.
    (r"\bé", " é", True),
    # ECMA-262 has no such syntax.
    (r"^(?P<n>a)$", "a", True),
    (r"^(?i)a$", "A", True),
]
REFUSED = [r"^[^]$", r"^a\Z"]


def matches(pattern: str, text: str) -> bool:
    """Whether validation takes a text for a pattern."""
    schema = {"type": "object", "properties": {"a": {"pattern": pattern}}}
    tool = Tool("t", "", "", {"name": "t", "inputSchema": schema})
    return not Validators().check_arguments(tool, {"a": text})


@pytest.mark.parametrize(("pattern", "text", "verdict"), AS_ECMA_UNLIKE_PYTHON)
def test_what_python_reads_otherwise(pattern: str, text: str, verdict: bool) -> None:
    assert matches(pattern, text) is verdict
    assert bool(re.search(pattern, text)) is not verdict


@pytest.mark.parametrize(("pattern", "text", "verdict"), NOT_IN_PYTHON)
def test_what_python_cannot_read(pattern: str, text: str, verdict: bool) -> None:
    assert matches(pattern, text) is verdict
    with pytest.raises(re.error):
        re.compile(pattern)


@pytest.mark.parametrize(("pattern", "text", "verdict"), UNLIKE_ECMA)
def test_what_is_not_as_in_ecma(pattern: str, text: str, verdict: bool) -> None:
    assert matches(pattern, text) is verdict


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_cannot_be_read_lets_nothing_through(pattern: str) -> None:
    assert not matches(pattern, "a")
