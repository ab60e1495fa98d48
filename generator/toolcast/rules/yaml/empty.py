"""`yaml/empty`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/empty",
    severity=Severity.ERROR,
    purpose="Checks that the file is not empty.",
    why="An empty file is a tool that somebody believes to be there.",
    bad="",
    good="""\
title: Notes
""",
)
