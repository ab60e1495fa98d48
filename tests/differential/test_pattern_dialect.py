"""JSON Schema `pattern` has the semantics of ECMA-262, except for the documented differences."""

from __future__ import annotations

import re

import pytest

from toolcast_runtime.core.calls.tool_validators import Validators
from toolcast_runtime.core.definitions.tool import Tool

DIFFERENT_IN_PYTHON = [
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
INVALID_IN_PYTHON = [
    (r"^\p{Lu}$", "É", True),
    (r"^\cA$", "\x01", True),
    (r"^(?<n>a)$", "a", True),
    (r"(?<=a+)b", "aab", True),
    (r"^\u{1F600}$", "\U0001f600", True),
]
DIFFERENT_FROM_ECMA = [
    # ECMA-262 does not match, since its `\b` supports ASCII only.
    (r"\bé", " é", True),
    # ECMA-262 has no such syntax.
    (r"^(?P<n>a)$", "a", True),
    (r"^(?i)a$", "A", True),
]
REFUSED = [r"^[^]$", r"^a\Z"]


def matches(pattern: str, text: str) -> bool:
    """Return whether validation accepts a string for a pattern."""
    schema = {"type": "object", "properties": {"a": {"pattern": pattern}}}
    tool = Tool("t", "", "", {"name": "t", "inputSchema": schema})
    return not Validators().check_arguments(tool, {"a": text})


@pytest.mark.parametrize(
    ("pattern", "text", "is_match"),
    [*DIFFERENT_IN_PYTHON, *INVALID_IN_PYTHON, *DIFFERENT_FROM_ECMA],
)
def test_pattern_matches_as_in_ecma_262_except_as_documented(
    pattern: str, text: str, is_match: bool
) -> None:
    assert matches(pattern, text) is is_match
    row = (pattern, text, is_match)
    if row in DIFFERENT_IN_PYTHON:
        assert bool(re.search(pattern, text)) is not is_match
    if row in INVALID_IN_PYTHON:
        with pytest.raises(re.error):
            re.compile(pattern)


@pytest.mark.parametrize("pattern", REFUSED)
def test_invalid_json_schema_pattern_matches_no_value(pattern: str) -> None:
    assert not matches(pattern, "a")
