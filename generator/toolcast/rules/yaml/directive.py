"""`yaml/directive`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/directive",
    severity=Severity.ERROR,
    purpose="Checks that there are no YAML directives.",
    why="They change how the rest of the file is read.",
    bad="",
    good="""\
title: Notes
""",
)
