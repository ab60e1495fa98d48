"""`yaml/too-deep`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/too-deep",
    severity=Severity.ERROR,
    purpose="Checks that nothing is nested deeper than 100 levels.",
    why="Readers of deeper files run out of stack.",
    bad="",
    good="""\
title: Notes
""",
)
