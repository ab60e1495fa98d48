"""`yaml/too-large`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/too-large",
    severity=Severity.ERROR,
    purpose="Checks that the file has at most 2 MiB and 100,000 values.",
    why="The time for a spec has to have a bound, whoever wrote it.",
    bad="",
    good="""\
title: Notes
""",
)
