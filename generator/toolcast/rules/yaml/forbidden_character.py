"""`yaml/forbidden-character`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/forbidden-character",
    severity=Severity.ERROR,
    purpose="Checks that there are no control and bidirectional characters.",
    why=(
        "They make a text look different from what it is, to reviewers and in"
        " terminals (CVE-2021-42574)."
    ),
    bad="""\
description: "Stores a note.\\u202E"
""",
    good="""\
description: Stores a note.
""",
)
