"""`spec/suppression-over`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/suppression-over",
    severity=Severity.WARNING,
    purpose="Checks that no suppression is past its date.",
    why="Somebody had promised to decide anew by then.",
    bad="""\
suppress: [{rule: handler/missing, reason: Comes in spring., until: "2020-04-01"}]
""",
    good="""\
suppress: [{rule: handler/missing, reason: Comes in spring., until: "2999-04-01"}]
# handler: still to be written
""",
)
