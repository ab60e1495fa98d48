"""`yaml/documents`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/documents",
    severity=Severity.ERROR,
    purpose="Checks that a file has one document.",
    why="Readers take the first, the last or none of several.",
    bad="""\
title: Notes
---
title: Other notes
""",
    good="""\
title: Notes
""",
)
