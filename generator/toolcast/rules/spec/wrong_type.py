"""`spec/wrong-type`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/wrong-type",
    severity=Severity.ERROR,
    purpose="Checks that every value is of the type that its key has.",
    why="A text where a list belongs would be taken apart into letters.",
    bad="""\
renamed_from: old_note
""",
    good="""\
renamed_from: [old_note]
""",
)
