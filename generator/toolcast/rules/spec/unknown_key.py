"""`spec/unknown-key`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/unknown-key",
    severity=Severity.ERROR,
    purpose="Checks that every key is one of the spec language.",
    why="A misspelled key would have no effect, and nobody would notice.",
    bad="""\
desription: Stores a note.
""",
    good="""\
description: Stores a note.
""",
)
