"""`yaml/syntax`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/syntax",
    severity=Severity.ERROR,
    purpose="Checks that the file is YAML.",
    why="Nothing can be read from a file that is not.",
    bad="""\
title: "Notes
""",
    good="""\
title: "Notes"
""",
)
