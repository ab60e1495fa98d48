"""`spec/unreadable`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/unreadable",
    severity=Severity.ERROR,
    purpose="Checks that every spec can be read.",
    why="A spec that is passed over is a tool that is gone.",
    bad="",
    good="",
)
