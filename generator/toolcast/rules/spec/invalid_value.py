"""`spec/invalid-value`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/invalid-value",
    severity=Severity.ERROR,
    purpose="Checks that every value is one that its key can have.",
    why="Names and modules stand in code and paths, so they have to be well formed.",
    bad="""\
handler: notes.py
""",
    good="""\
# note.yaml
handler: notes:note
# toolset.yaml
handlers: notes
# notes.py
def note(): ...
""",
)
