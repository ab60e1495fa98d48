"""`spec/removal-over`, found where suppressions are held against the day, too."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/removal-over",
    severity=Severity.WARNING,
    purpose="Checks that no tool is past the day on which it was to be removed.",
    why="Whoever planned by that date counts on the tool's absence, or has forgotten it.",
    bad="""\
deprecated: {since: "2019-12-01", removal: "2020-01-01"}
""",
    good="""\
deprecated: {since: "2019-12-01", removal: "2999-01-01"}
""",
)
