"""`spec/file-stem`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/file-stem",
    severity=Severity.ERROR,
    purpose="Checks that a tool and its file have the same name.",
    why=(
        "Who looks for a tool finds it by its file, and two tools cannot have one"
        " name. Where another tool has the file or the module, its file has the name that"
        " `name/collision` tells."
    ),
    bad="""\
# notes.yaml
name: note
""",
    good="""\
# note.yaml
name: note
""",
)
