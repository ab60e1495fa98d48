"""`spec/unknown-rule`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/unknown-rule",
    severity=Severity.ERROR,
    purpose="Checks that suppressions name rules that exist.",
    why="A misspelled suppression suppresses nothing.",
    bad="""\
suppress: [{rule: prompt/too-long, reason: Known.}]
""",
    good="""\
title: Notes
""",
)
