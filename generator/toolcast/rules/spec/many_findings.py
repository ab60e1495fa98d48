"""`spec/many-findings`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/many-findings",
    severity=Severity.ERROR,
    purpose="Checks that a file has no more findings than can be read.",
    why=(
        "A file with thousands of problems is not what it was taken for. The first"
        " hundred are shown; the others are counted, not passed over in silence."
    ),
    bad="",
    good="",
)
