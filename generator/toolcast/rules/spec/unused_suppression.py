"""`spec/unused-suppression`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/unused-suppression",
    severity=Severity.WARNING,
    purpose="Checks that every suppression is needed.",
    why="One that nothing needs hides the next finding of its rule.",
    bad="""\
description: Stores a note.
suppress: [{rule: prompt/description-missing, reason: Comes in spring.}]
""",
    good="""\
description: null
suppress: [{rule: prompt/description-missing, reason: Comes in spring.}]
""",
)
