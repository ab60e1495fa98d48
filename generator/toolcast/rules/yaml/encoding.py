"""`yaml/encoding`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/encoding",
    severity=Severity.ERROR,
    purpose="Checks that the file is UTF-8.",
    why="In any other encoding the same bytes are another text elsewhere.",
    bad="",
    good="""\
title: Notizen für später
""",
)
