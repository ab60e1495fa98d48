"""`spec/missing-key`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/missing-key",
    severity=Severity.ERROR,
    purpose="Checks that no key is missing.",
    why="The smallest tool has a name, a summary and parameters.",
    bad="""\
cli: {reason: Only models call it.}
""",
    good="""\
cli: {keyword: null, reason: Only models call it.}
""",
)
