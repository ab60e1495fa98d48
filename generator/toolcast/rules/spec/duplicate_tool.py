"""`spec/duplicate-tool`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/duplicate-tool",
    severity=Severity.ERROR,
    purpose="Checks that no two files define the same tool.",
    why="One of the two would be gone in silence.",
    bad="""\
# note.yaml
name: note
# notes.yaml
name: note
""",
    good="""\
# note.yaml
name: note
# notes.yaml
name: notes
""",
)
