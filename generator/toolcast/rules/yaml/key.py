"""`yaml/key`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/key",
    severity=Severity.ERROR,
    purpose="Checks that every key is text.",
    why=(
        "JSON has no other keys, and readers turn `1` and `true` into different"
        " texts."
    ),
    bad="""\
parameters:
  type: object
  properties: {1: {type: string}}
""",
    good="""\
parameters:
  type: object
  properties: {"1": {type: string}}
""",
)
